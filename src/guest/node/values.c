#include "guest/node/guest.h"

struct arguments take_arguments(napi_env env, napi_callback_info info) {
  struct arguments arguments = {.count = sizeof arguments.at / sizeof *arguments.at};
  napi_get_cb_info(env, info, &arguments.count, arguments.at, NULL, NULL);
  return arguments;
}

int append_string(napi_env env, napi_value string, struct cr_buf *buf) {
  size_t length;
  if (napi_get_value_string_utf8(env, string, NULL, 0, &length) != napi_ok) {
    throw_type_error(env, "not a string");
    return -1;
  }
  if (cr_buf_reserve(buf, length + 1)) {
    throw_error(env, "too long");
    return -1;
  }
  napi_get_value_string_utf8(env, string, (char *)buf->data + buf->len, length + 1, &length);
  buf->len += length;
  return 0;
}

int64_t to_number(napi_env env, napi_value number) {
  int64_t value = 0;
  napi_get_value_int64(env, number, &value);
  return value;
}

napi_value make_undefined(napi_env env) {
  napi_value value = NULL;
  napi_get_undefined(env, &value);
  return value;
}

napi_value make_number(napi_env env, double number) {
  napi_value value = NULL;
  napi_create_double(env, number, &value);
  return value;
}

napi_value make_string(napi_env env, const void *utf8, size_t length) {
  napi_value value = NULL;
  napi_create_string_utf8(env, length ? utf8 : "", length, &value);
  return value;
}

napi_value throw_error(napi_env env, const char *message) {
  napi_throw_error(env, NULL, message);
  return NULL;
}

napi_value throw_type_error(napi_env env, const char *message) {
  napi_throw_type_error(env, NULL, message);
  return NULL;
}
