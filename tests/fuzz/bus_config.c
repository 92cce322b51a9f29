// Configuration: the input is a JSON array [schema, value, operations]. The value is expanded, checked against the
// schema, written as YAML and read back, and changed by the operations of state::update. What is no JSON is read as a
// file.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bus/engine/config_file.h"
#include "bus/engine/expand.h"
#include "bus/engine/schema.h"
#include "bus/engine/state_ops.h"
#include "bus/message.h"

static void check(yyjson_val *schema, yyjson_val *value) {
  cr_autobuf unset = CR_BUF(65536), errors = CR_BUF(65536), text = CR_BUF(1 << 20);
  yyjson_mut_doc *work = yyjson_mut_doc_new(NULL);
  yyjson_mut_doc_set_root(work, cr_expand(work, value, &unset));
  yyjson_doc *doc = yyjson_mut_doc_imut_copy(work, NULL);
  cr_schema_check(schema, yyjson_doc_get_root(doc), &errors);
  struct config_parts parts = {"id", "name", "description", value, NULL};
  if (!cr_config_file_write(&parts, &text, NULL)) {
    yyjson_doc *back = cr_config_file_read((const char *)text.data, text.len, NULL);
    if (!back) abort();
    yyjson_doc_free(back);
  }
  yyjson_doc_free(doc);
  yyjson_mut_doc_free(work);
}

static void change(yyjson_val *value, yyjson_val *ops) {
  if (!cr_state_ops_known(ops)) return;
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *errors = yyjson_mut_arr(doc);
  yyjson_mut_val *root = cr_state_ops(doc, yyjson_val_mut_copy(doc, value), ops, errors);
  char *text = yyjson_mut_val_write(root, YYJSON_WRITE_NOFLAG, NULL);
  if (!text) abort();
  free(text);
  yyjson_mut_doc_free(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  yyjson_doc *doc = cr_json_depth((const char *)data, size) <= CR_BUS_DEPTH_MAX
                        ? yyjson_read_opts((char *)data, size, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL)
                        : NULL;
  yyjson_val *root = yyjson_doc_get_root(doc);
  if (yyjson_arr_size(root) == 3) {
    check(yyjson_arr_get(root, 0), yyjson_arr_get(root, 1));
    change(yyjson_arr_get(root, 1), yyjson_arr_get(root, 2));
  }
  yyjson_doc_free(doc);
  yyjson_doc_free(cr_config_file_read((const char *)data, size, NULL));
  return 0;
}
