#include "bus/engine/config_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"

static int on_write(void *of, unsigned char *bytes, size_t length) { return !cr_buf_append(of, bytes, length); }

// Whether some reader of YAML 1.1 or 1.2 would take the plain text for something else than a string.
static int is_ambiguous(const char *text, size_t length) {
  static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
  if (!length || !(isalpha((unsigned char)*text) || *text == '$' || *text == '/' || *text == '_')) return 1;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (length == strlen(words[i]) && !strncasecmp(text, words[i], length)) return 1;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f) return 1;
  return 0;
}

static int emit_scalar(yaml_emitter_t *emitter, const char *text, size_t length, int is_text) {
  yaml_event_t event;
  yaml_scalar_style_t style =
      is_text && is_ambiguous(text, length) ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
  return yaml_scalar_event_initialize(&event, NULL, NULL, (yaml_char_t *)text, (int)length, 1, 1, style) &&
         yaml_emitter_emit(emitter, &event);
}

static int emit_text(yaml_emitter_t *emitter, const char *text) { return emit_scalar(emitter, text, strlen(text), 1); }

static int emit_value(yaml_emitter_t *emitter, yyjson_val *value);

static int emit_array(yaml_emitter_t *emitter, yyjson_val *array) {
  yaml_event_t event;
  size_t index, count;
  yyjson_val *item;
  yaml_sequence_style_t style = yyjson_arr_size(array) ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE;
  if (!yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, style) || !yaml_emitter_emit(emitter, &event))
    return 0;
  yyjson_arr_foreach(array, index, count, item) if (!emit_value(emitter, item)) return 0;
  return yaml_sequence_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static int emit_open(yaml_emitter_t *emitter, int empty) {
  yaml_event_t event;
  yaml_mapping_style_t style = empty ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE;
  return yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, style) && yaml_emitter_emit(emitter, &event);
}

static int emit_close(yaml_emitter_t *emitter) {
  yaml_event_t event;
  return yaml_mapping_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

static int emit_object(yaml_emitter_t *emitter, yyjson_val *object) {
  size_t index, count;
  yyjson_val *key, *item;
  if (!emit_open(emitter, !yyjson_obj_size(object))) return 0;
  yyjson_obj_foreach(object, index, count, key,
                     item) if (!emit_scalar(emitter, yyjson_get_str(key), yyjson_get_len(key), 1) ||
                               !emit_value(emitter, item)) return 0;
  return emit_close(emitter);
}

static int emit_value(yaml_emitter_t *emitter, yyjson_val *value) {
  if (yyjson_is_arr(value)) return emit_array(emitter, value);
  if (yyjson_is_obj(value)) return emit_object(emitter, value);
  if (yyjson_is_str(value)) return emit_scalar(emitter, yyjson_get_str(value), yyjson_get_len(value), 1);
  size_t length = 0;
  cr_autofree char *text = cr_json_text(value, &length);
  return emit_scalar(emitter, text, length, 0);
}

static int emit_entry(yaml_emitter_t *emitter, const struct config_parts *parts) {
  yaml_event_t event;
  if (!yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING) || !yaml_emitter_emit(emitter, &event) ||
      !yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1) || !yaml_emitter_emit(emitter, &event))
    return 0;
  if (!emit_open(emitter, 0) || !emit_text(emitter, "id") || !emit_text(emitter, parts->id) ||
      !emit_text(emitter, "name") || !emit_text(emitter, parts->name) || !emit_text(emitter, "description") ||
      !emit_text(emitter, parts->description) || !emit_text(emitter, "value") || !emit_value(emitter, parts->value))
    return 0;
  if (parts->metadata && (!emit_text(emitter, "metadata") || !emit_value(emitter, parts->metadata))) return 0;
  return emit_close(emitter) && yaml_document_end_event_initialize(&event, 1) && yaml_emitter_emit(emitter, &event) &&
         yaml_stream_end_event_initialize(&event) && yaml_emitter_emit(emitter, &event);
}

int cr_config_file_write(const struct config_parts *parts, struct cr_buf *out, struct cr_error *err) {
  yaml_emitter_t emitter;
  if (!yaml_emitter_initialize(&emitter)) cr_out_of_memory();
  yaml_emitter_set_output(&emitter, on_write, out);
  yaml_emitter_set_unicode(&emitter, 1);
  yaml_emitter_set_width(&emitter, -1);
  int written = emit_entry(&emitter, parts);
  yaml_emitter_delete(&emitter);
  if (!written) return cr_error_set(err, CR_ENGINE, "the value cannot be written as YAML");
  yyjson_mut_doc *back = cr_yaml_parse((const char *)out->data, out->len, err);
  if (!back) return -1;
  yyjson_mut_doc_free(back);
  return 0;
}

yyjson_doc *cr_config_file_read(const char *text, size_t length, struct cr_error *err) {
  yyjson_mut_doc *parsed = cr_yaml_parse(text, length, err);
  if (!parsed) return NULL;
  yyjson_mut_val *root = yyjson_mut_doc_get_root(parsed);
  yyjson_mut_val *id = yyjson_mut_obj_get(root, "id");
  if (!yyjson_mut_is_str(id)) {
    yyjson_mut_doc_free(parsed);
    cr_error_set(err, CR_INVALID_REQUEST, "no `id`");
    return NULL;
  }
  static const char *const texts[] = {"name", "description"};
  for (size_t i = 0; i < 2; i++)
    if (!yyjson_mut_is_str(yyjson_mut_obj_get(root, texts[i])))
      yyjson_mut_obj_put(root, yyjson_mut_str(parsed, texts[i]), yyjson_mut_str(parsed, ""));
  if (!yyjson_mut_obj_get(root, "value"))
    yyjson_mut_obj_put(root, yyjson_mut_str(parsed, "value"), yyjson_mut_null(parsed));
  yyjson_doc *doc = yyjson_mut_doc_imut_copy(parsed, NULL);
  yyjson_mut_doc_free(parsed);
  return doc;
}
