#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 64

struct reader {
  yaml_parser_t parser;
  yyjson_mut_doc *doc;
  struct cr_error *err;
};

static yyjson_mut_val *read_node(struct reader *reader, const yaml_event_t *event, int depth);

static int next(struct reader *reader, yaml_event_t *event) {
  if (yaml_parser_parse(&reader->parser, event)) return 0;
  return cr_error_set(reader->err, CR_INVALID_REQUEST, "not YAML: %s at line %zu",
                      reader->parser.problem ? reader->parser.problem : "unreadable",
                      reader->parser.problem_mark.line + 1);
}

static int one_of(const char *text, const char *const *words) {
  for (; *words; words++)
    if (!strcmp(text, *words)) return 1;
  return 0;
}

// A number exactly as JSON spells one; everything else that is plain is a string.
static yyjson_mut_val *number(yyjson_mut_doc *doc, const char *text, size_t length) {
  if (!length || !strchr("-0123456789", text[0])) return NULL;
  yyjson_doc *parsed = yyjson_read_opts((char *)text, length, YYJSON_READ_NOFLAG, NULL, NULL);
  yyjson_val *root = yyjson_doc_get_root(parsed);
  yyjson_mut_val *value = yyjson_is_num(root) ? yyjson_val_mut_copy(doc, root) : NULL;
  yyjson_doc_free(parsed);
  return value;
}

static yyjson_mut_val *scalar(struct reader *reader, const yaml_event_t *event) {
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
  static const char *const trues[] = {"true", "True", "TRUE", NULL};
  static const char *const falses[] = {"false", "False", "FALSE", NULL};
  const char *text = (const char *)event->data.scalar.value;
  size_t length = event->data.scalar.length;
  if (event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE) {
    if (one_of(text, nulls)) return yyjson_mut_null(reader->doc);
    if (one_of(text, trues)) return yyjson_mut_true(reader->doc);
    if (one_of(text, falses)) return yyjson_mut_false(reader->doc);
    yyjson_mut_val *value = number(reader->doc, text, length);
    if (value) return value;
  }
  return yyjson_mut_strncpy(reader->doc, text, length);
}

static yyjson_mut_val *sequence(struct reader *reader, int depth) {
  yyjson_mut_val *array = yyjson_mut_arr(reader->doc);
  for (;;) {
    yaml_event_t event;
    if (next(reader, &event)) return NULL;
    int end = event.type == YAML_SEQUENCE_END_EVENT;
    yyjson_mut_val *value = end ? NULL : read_node(reader, &event, depth);
    yaml_event_delete(&event);
    if (end) return array;
    if (!value || !yyjson_mut_arr_append(array, value)) return NULL;
  }
}

static yyjson_mut_val *mapping(struct reader *reader, int depth) {
  yyjson_mut_val *object = yyjson_mut_obj(reader->doc);
  for (;;) {
    yaml_event_t event;
    if (next(reader, &event)) return NULL;
    int end = event.type == YAML_MAPPING_END_EVENT, named = event.type == YAML_SCALAR_EVENT;
    yyjson_mut_val *key =
        named ? yyjson_mut_strncpy(reader->doc, (const char *)event.data.scalar.value, event.data.scalar.length) : NULL;
    yaml_event_delete(&event);
    if (end) return object;
    if (!key) {
      cr_error_set(reader->err, CR_INVALID_REQUEST, "not usable YAML: a key is not a scalar");
      return NULL;
    }
    if (next(reader, &event)) return NULL;
    yyjson_mut_val *value = read_node(reader, &event, depth);
    yaml_event_delete(&event);
    if (!value || !yyjson_mut_obj_put(object, key, value)) return NULL;
  }
}

static yyjson_mut_val *read_node(struct reader *reader, const yaml_event_t *event, int depth) {
  if (depth >= DEPTH_MAX) {
    cr_error_set(reader->err, CR_INVALID_REQUEST, "not usable YAML: nested too deep");
    return NULL;
  }
  switch (event->type) {
    case YAML_SCALAR_EVENT: return scalar(reader, event);
    case YAML_SEQUENCE_START_EVENT: return sequence(reader, depth + 1);
    case YAML_MAPPING_START_EVENT: return mapping(reader, depth + 1);
    default: cr_error_set(reader->err, CR_INVALID_REQUEST, "not usable YAML: aliases are not supported"); return NULL;
  }
}

// After the document: nothing but the end of the text.
static int at_end(struct reader *reader) {
  for (int ended = 0; !ended;) {
    yaml_event_t event;
    if (next(reader, &event)) return -1;
    yaml_event_type_t type = event.type;
    yaml_event_delete(&event);
    if (type != YAML_DOCUMENT_END_EVENT && type != YAML_STREAM_END_EVENT)
      return cr_error_set(reader->err, CR_INVALID_REQUEST, "not usable YAML: more than one document");
    ended = type == YAML_STREAM_END_EVENT;
  }
  return 0;
}

static yyjson_mut_val *read_document(struct reader *reader) {
  for (;;) {
    yaml_event_t event;
    if (next(reader, &event)) return NULL;
    yaml_event_type_t type = event.type;
    yyjson_mut_val *value = NULL;
    if (type == YAML_STREAM_END_EVENT)
      value = yyjson_mut_null(reader->doc);
    else if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT)
      value = read_node(reader, &event, 0);
    yaml_event_delete(&event);
    if (type == YAML_STREAM_END_EVENT) return value;
    if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT)
      return value && !at_end(reader) ? value : NULL;
  }
}

yyjson_mut_doc *cr_yaml_parse(const char *text, size_t length, struct cr_error *err) {
  struct reader reader = {.doc = yyjson_mut_doc_new(NULL), .err = err};
  if (!yaml_parser_initialize(&reader.parser)) {
    cr_error_set(err, CR_ENGINE, "out of memory");
    yyjson_mut_doc_free(reader.doc);
    return NULL;
  }
  yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, length);
  yyjson_mut_val *root = read_document(&reader);
  yaml_parser_delete(&reader.parser);
  if (!root) {
    yyjson_mut_doc_free(reader.doc);
    return NULL;
  }
  yyjson_mut_doc_set_root(reader.doc, root);
  return reader.doc;
}
