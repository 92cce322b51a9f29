#include "cli/manifest.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "worker/config.h"

void cr_cli_manifest(void) {
  struct cr_config config;
  cr_config_defaults(&config);
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc), *targets = yyjson_mut_arr(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "name", "code-runner");
  yyjson_mut_obj_add_str(doc, root, "version", CR_VERSION);
  yyjson_mut_obj_add_str(doc, root, "description",
                         "Runs untrusted Python and JavaScript (Node) in sealed forks of warm engines");
  yyjson_mut_obj_add_val(doc, root, "default_config", cr_config_value(&config, doc));
  yyjson_mut_arr_add_str(doc, targets, "x86_64-unknown-linux-gnu");
  yyjson_mut_arr_add_str(doc, targets, "aarch64-unknown-linux-gnu");
  yyjson_mut_obj_add_val(doc, root, "supported_targets", targets);
  char *text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES, NULL);
  if (text) puts(text);
  free(text);
  yyjson_mut_doc_free(doc);
}
