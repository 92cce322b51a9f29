#include "worker/response.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "worker/caps.h"

static yyjson_mut_val *omitted(yyjson_mut_doc *doc, uint64_t bytes, enum cr_result_shape shape, uint64_t count) {
  cr_autobuf text = CR_BUF(1024);
  if (cr_caps_result(bytes, shape, count, &text)) cr_out_of_memory();
  return yyjson_mut_strncpy(doc, (const char *)text.data, text.len);
}

static yyjson_mut_val *omitted_by_guest(yyjson_mut_doc *doc, const struct cr_outcome *outcome) {
  struct cr_frame frame = {.payload = outcome->value, .length = outcome->value_length};
  struct cr_fields fields = cr_frame_fields(&frame);
  int64_t bytes, shape, count;
  if (cr_fields_number(&fields, &bytes) || cr_fields_number(&fields, &shape) || cr_fields_number(&fields, &count))
    return yyjson_mut_null(doc);
  return omitted(doc, (uint64_t)bytes, (enum cr_result_shape)shape, (uint64_t)count);
}

static yyjson_mut_val *omitted_here(yyjson_mut_doc *doc, yyjson_val *value, size_t bytes) {
  if (yyjson_is_arr(value)) return omitted(doc, bytes, CR_SHAPE_ARRAY, yyjson_arr_size(value));
  if (yyjson_is_obj(value)) return omitted(doc, bytes, CR_SHAPE_OBJECT, yyjson_obj_size(value));
  if (!yyjson_is_str(value)) return omitted(doc, bytes, CR_SHAPE_VALUE, 0);
  size_t points = cr_utf8_count((const uint8_t *)yyjson_get_str(value), yyjson_get_len(value));
  return omitted(doc, bytes, CR_SHAPE_STRING, points);
}

// The guest's text is checked before it becomes part of ours.
static yyjson_mut_val *result(yyjson_mut_doc *doc, const struct cr_response *response) {
  const struct cr_outcome *outcome = response->outcome;
  if (response->exit_code || outcome->kind == CR_RESULT_NULL) return yyjson_mut_null(doc);
  if (outcome->kind == CR_RESULT_OMITTED) return omitted_by_guest(doc, outcome);
  yyjson_doc *parsed =
      yyjson_read_opts((char *)outcome->value, outcome->value_length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  if (!parsed) return yyjson_mut_null(doc);
  int big = response->max_result_bytes && outcome->value_length > response->max_result_bytes;
  yyjson_mut_val *value = big ? omitted_here(doc, yyjson_doc_get_root(parsed), outcome->value_length)
                              : yyjson_mut_rawn(doc, (const char *)outcome->value, outcome->value_length);
  yyjson_doc_free(parsed);
  return value;
}

static int reached_ceiling(const struct cr_capture *stream) { return stream->ceiling && stream->total > stream->limit; }

static void add_stream(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *name, const struct cr_capture *stream,
                       int truncated) {
  cr_autobuf text = CR_BUF(3ul * CR_CAPTURE_CEILING);
  if (cr_capture_render(stream, name, &text)) cr_out_of_memory();
  if (truncated) {
    if (text.len && text.data[text.len - 1] != '\n') (void)cr_buf_puts(&text, "\n");
    (void)cr_buf_printf(&text, "[code-runner] captured output was truncated at %u bytes\n", CR_CAPTURE_CEILING);
  }
  yyjson_mut_val *value = yyjson_mut_strncpy(doc, text.len ? (const char *)text.data : "", text.len);
  yyjson_mut_obj_add(root, yyjson_mut_str(doc, name), value);
}

char *cr_response_text(const struct cr_response *response, size_t *length) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  int truncated = reached_ceiling(response->streams[0]) || reached_ceiling(response->streams[1]);
  if (response->runtime_id) yyjson_mut_obj_add_str(doc, root, "runtime_id", response->runtime_id);
  add_stream(doc, root, "stdout", response->streams[0], 0);
  add_stream(doc, root, "stderr", response->streams[1], truncated);
  yyjson_mut_obj_add_int(doc, root, "exit_code", response->exit_code);
  yyjson_mut_obj_add_bool(doc, root, "success", response->exit_code == 0);
  yyjson_mut_obj_add_uint(doc, root, "duration_ms", response->duration_ms);
  yyjson_mut_obj_add_val(doc, root, "result", result(doc, response));
  char *text = cr_json_mut_text(doc, length);
  yyjson_mut_doc_free(doc);
  return text;
}
