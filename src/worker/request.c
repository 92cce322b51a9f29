#include "worker/request.h"

#include <string.h>

#include "base/json.h"
#include "worker/worker.h"

static int refuse(const char *name, const char *expected, yyjson_val *value, struct cr_error *err) {
  return cr_error_set(err, CR_INVALID_REQUEST, "`%s` must be %s, not %s", name, expected, cr_json_kind(value));
}

int cr_request_object(yyjson_val *payload, struct cr_error *err) {
  if (yyjson_is_obj(payload)) return 0;
  return cr_error_set(err, CR_INVALID_REQUEST, "the payload must be an object, not %s", cr_json_kind(payload));
}

int cr_request_text(yyjson_val *payload, const char *name, int nullable, const char **value, size_t *length,
                    struct cr_error *err) {
  yyjson_val *field = yyjson_obj_get(payload, name);
  if (nullable && (!field || yyjson_is_null(field))) return 0;
  if (!field) return cr_error_set(err, CR_INVALID_REQUEST, "missing field `%s` (a string)", name);
  if (!yyjson_is_str(field)) return refuse(name, nullable ? "a string or null" : "a string", field, err);
  *value = yyjson_get_str(field);
  *length = yyjson_get_len(field);
  return 0;
}

int cr_request_unsigned(yyjson_val *payload, const char *name, uint64_t *value, int *given, struct cr_error *err) {
  yyjson_val *field = yyjson_obj_get(payload, name);
  if (!field || yyjson_is_null(field)) return 0;
  if (!yyjson_is_uint(field)) {
    const char *what = yyjson_is_sint(field)   ? "a negative number"
                       : yyjson_is_real(field) ? "a fractional number"
                       : yyjson_is_raw(field)  ? "a number beyond 64 bits"
                                               : cr_json_kind(field);
    return cr_error_set(err, CR_INVALID_REQUEST, "`%s` must be an unsigned integer or null, not %s", name, what);
  }
  *value = yyjson_get_uint(field);
  *given = 1;
  return 0;
}

int cr_request_boolean(yyjson_val *payload, const char *name, int *value, struct cr_error *err) {
  yyjson_val *field = yyjson_obj_get(payload, name);
  if (!field) return 0;
  if (!yyjson_is_bool(field)) return refuse(name, "a boolean", field, err);
  *value = yyjson_get_bool(field);
  return 0;
}

int cr_request_lang(yyjson_val *payload, int nullable, int *lang, struct cr_error *err) {
  const char *text = NULL;
  size_t length = 0;
  *lang = -1;
  if (cr_request_text(payload, "lang", nullable, &text, &length, err)) return -1;
  for (int i = 0; text && i < CR_LANGS; i++)
    if (!strcmp(text, cr_lang_name((enum cr_lang)i)) && strlen(text) == length) *lang = i;
  if (text && *lang < 0)
    return cr_error_set(err, CR_INVALID_REQUEST, "`lang` must be \"node\" or \"python\", not %.*s",
                        length < 40 ? (int)length : 40, text);
  return 0;
}
