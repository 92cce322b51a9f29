#include "worker/metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "worker/request.h"

int cr_metadata_check_id(const char *id, size_t length, struct cr_error *err) {
  if (strlen(id) != length) return cr_error_set(err, CR_INVALID_REQUEST, "a function id has no zero characters");
  if (length <= CR_ID_MAX) return 0;
  size_t shown = cr_utf8_prefix((const uint8_t *)id, length, 40);
  return cr_error_set(err, CR_INVALID_REQUEST, "the function id `%.*s…` is %zu bytes; the limit is %u", (int)shown, id,
                      length, CR_ID_MAX);
}

static int constrains(yyjson_val *format) {
  static const char *const keys[] = {"type",  "properties", "$ref",  "enum", "const",
                                     "anyOf", "oneOf",      "allOf", "not",  "items"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (yyjson_obj_get(format, keys[i])) return 1;
  return 0;
}

static int read_format(yyjson_val *object, const char *name, char **text, struct cr_error *err) {
  yyjson_val *format = yyjson_obj_get(object, name);
  if (!format || yyjson_is_null(format)) return 0;
  if (!yyjson_is_obj(format))
    return cr_error_set(err, CR_INVALID_REQUEST, "`%s` must be a JSON Schema OBJECT, not %s", name,
                        cr_json_kind(format));
  if (!constrains(format))
    return cr_error_set(err, CR_INVALID_REQUEST, "`%s` constrains nothing: give it `type`, `properties` or the like",
                        name);
  size_t length;
  *text = cr_json_text(format, &length);
  if (length <= CR_FORMAT_MAX) return 0;
  return cr_error_set(err, CR_INVALID_REQUEST, "`%s` is %zu bytes of JSON; the limit is %u", name, length,
                      CR_FORMAT_MAX);
}

int cr_metadata_read(yyjson_val *object, struct cr_metadata *metadata, struct cr_error *err) {
  const char *description = NULL;
  size_t length = 0;
  *metadata = (struct cr_metadata){0};
  int failed = cr_request_text(object, "description", 1, &description, &length, err);
  if (!failed && length > CR_DESCRIPTION_MAX)
    failed = cr_error_set(err, CR_INVALID_REQUEST, "`description` is %zu bytes; the limit is %u", length,
                          CR_DESCRIPTION_MAX);
  if (!failed && description) metadata->description = cr_strndup(description, length);
  if (!failed) failed = read_format(object, "request_format", &metadata->request_format, err);
  if (!failed) failed = read_format(object, "response_format", &metadata->response_format, err);
  if (failed) cr_metadata_free(metadata);
  return failed;
}

int cr_metadata_empty(const struct cr_metadata *metadata) {
  return !metadata->description && !metadata->request_format && !metadata->response_format;
}

void cr_metadata_free(struct cr_metadata *metadata) {
  free(metadata->description);
  free(metadata->request_format);
  free(metadata->response_format);
  *metadata = (struct cr_metadata){0};
}
