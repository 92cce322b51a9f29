// The end of a turn.
#include <unistd.h>

#include "base/utf8.h"
#include "guest/node/guest.h"

// What fits in a frame beside the failure text and the note.
#define VALUE_MAX (CR_FRAME_MAX - (4u << 20))
#define TEXT_MAX (1u << 20)

static int is_string(napi_env env, napi_value value) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  return type == napi_string;
}

static void put_omitted(struct cr_frame_writer *writer, const struct cr_buf *text) {
  cr_autobuf numbers = CR_BUF(64);
  int64_t count, shape = json_shape(text, &count);
  const int64_t values[3] = {(int64_t)text->len, shape, count};
  struct cr_frame_writer fields = {.buf = &numbers};
  for (int i = 0; i < 3; i++) cr_frame_number(&fields, values[i]);
  cr_frame_number(writer, CR_RESULT_OMITTED);
  cr_frame_bytes(writer, numbers.data, numbers.len);
}

static int put_value(napi_env env, struct cr_frame_writer *writer, napi_value value, int64_t max) {
  if (!is_string(env, value)) {
    cr_frame_number(writer, CR_RESULT_NULL);
    cr_frame_bytes(writer, NULL, 0);
    return 0;
  }
  cr_autobuf text = CR_BUF(4ul << 30);
  if (append_string(env, value, &text)) return -1;
  json_repair(&text);
  if (text.len > VALUE_MAX || (max > 0 && text.len > (size_t)max)) {
    put_omitted(writer, &text);
  } else {
    cr_frame_number(writer, CR_RESULT_JSON);
    cr_frame_bytes(writer, text.data, text.len);
  }
  return 0;
}

static int put_text(napi_env env, struct cr_frame_writer *writer, napi_value value) {
  cr_autobuf text = CR_BUF(4ul << 30);
  if (is_string(env, value) && append_string(env, value, &text)) return -1;
  cr_frame_bytes(writer, text.data, cr_utf8_prefix(text.data, text.len, TEXT_MAX));
  return 0;
}

napi_value guest_done(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  napi_value *at = arguments.at;
  struct cr_frame_writer writer =
      cr_frame_begin(&guest.out, CR_FRAME_DONE, (uint8_t)to_number(env, at[1]), (uint32_t)to_number(env, at[0]));
  cr_frame_number(&writer, to_number(env, at[2]));
  if (put_value(env, &writer, at[3], to_number(env, at[4])) || put_text(env, &writer, at[5]) ||
      put_text(env, &writer, at[6])) {
    guest.out.len = 0;
    return NULL;
  }
  if (cr_frame_end(&writer)) _exit(70);
  if (to_number(env, at[0]) == REHEARSAL)
    guest.out.len = 0;
  else
    channel_send();
  return make_undefined(env);
}
