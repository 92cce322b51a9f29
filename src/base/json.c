#include "base/json.h"

#include <string.h>

#include "base/mem.h"

yyjson_doc *cr_json_parse(const char *text, size_t length, struct cr_error *err) {
  yyjson_read_err why;
  yyjson_doc *doc = yyjson_read_opts((char *)text, length, YYJSON_READ_BIGNUM_AS_RAW, NULL, &why);
  if (!doc) cr_error_set(err, CR_INVALID_REQUEST, "not JSON: %s at byte %zu", why.msg, why.pos);
  return doc;
}

size_t cr_json_depth(const char *text, size_t length) {
  size_t depth = 0, deepest = 0;
  int quoted = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (quoted) {
      if (c == '\\') i++;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = 1;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest) deepest = depth;
    } else if (c == ']' || c == '}') {
      depth--;
    }
  }
  return deepest;
}

int cr_json_valid(const char *text, size_t length, size_t *depth) {
  yyjson_doc *doc = yyjson_read_opts((char *)text, length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  if (!doc) return 0;
  yyjson_doc_free(doc);
  if (depth) *depth = cr_json_depth(text, length);
  return 1;
}

const char *cr_json_kind(yyjson_val *value) {
  switch (yyjson_get_type(value)) {
    case YYJSON_TYPE_NULL: return "null";
    case YYJSON_TYPE_BOOL: return "a boolean";
    case YYJSON_TYPE_RAW:
    case YYJSON_TYPE_NUM: return "a number";
    case YYJSON_TYPE_STR: return "a string";
    case YYJSON_TYPE_ARR: return "an array";
    case YYJSON_TYPE_OBJ: return "an object";
    default: return "nothing";
  }
}

char *cr_json_text(yyjson_val *value, size_t *length) {
  char *text = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, length);
  if (!text) cr_out_of_memory();
  return text;
}

char *cr_json_mut_text(yyjson_mut_doc *doc, size_t *length) {
  char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, length);
  if (!text) cr_out_of_memory();
  return text;
}
