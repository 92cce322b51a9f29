#include "unit.h"

#include "base/mem.h"
#include "bus/message.h"

#define UUID "0af7651e-16cd-43dd-8448-eb211c80319c"

static const char *refusal(const char *text) {
  struct cr_msg msg;
  const char *why = NULL;
  if (!cr_msg_decode(&msg, text, strlen(text), &why)) {
    cr_msg_free(&msg);
    return NULL;
  }
  return why;
}

static void every_type_is_known(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum cr_msg_type type;
  } table[] = {
      {"{\"type\":\"registerfunction\",\"id\":\"a\"}", CR_MSG_REGISTER_FUNCTION},
      {"{\"type\":\"unregisterfunction\",\"id\":\"a\"}", CR_MSG_UNREGISTER_FUNCTION},
      {"{\"type\":\"registertriggertype\",\"id\":\"a\",\"description\":\"\"}", CR_MSG_REGISTER_TRIGGER_TYPE},
      {"{\"type\":\"unregistertriggertype\",\"id\":\"a\",\"description\":\"\"}", CR_MSG_UNREGISTER_TRIGGER_TYPE},
      {"{\"type\":\"registertrigger\",\"id\":\"a\",\"trigger_type\":\"t\",\"function_id\":\"f\",\"config\":null}",
       CR_MSG_REGISTER_TRIGGER},
      {"{\"type\":\"triggerregistrationresult\",\"id\":\"a\",\"trigger_type\":\"t\",\"function_id\":\"f\"}",
       CR_MSG_TRIGGER_RESULT},
      {"{\"type\":\"unregistertrigger\",\"id\":\"a\"}", CR_MSG_UNREGISTER_TRIGGER},
      {"{\"type\":\"invokefunction\",\"function_id\":\"a\"}", CR_MSG_INVOKE},
      {"{\"type\":\"invocationresult\",\"invocation_id\":\"" UUID "\",\"function_id\":\"a\"}", CR_MSG_RESULT},
      {"{\"type\":\"registerservice\",\"id\":\"a\"}", CR_MSG_REGISTER_SERVICE},
      {"{\"type\":\"ping\"}", CR_MSG_PING},
      {"{\"type\":\"pong\",\"more\":1}", CR_MSG_PONG},
      {"{\"type\":\"reattach\",\"previous_worker_id\":\"w\"}", CR_MSG_REATTACH},
      {"{\"type\":\"workerregistered\",\"worker_id\":\"w\"}", CR_MSG_WORKER_REGISTERED},
      {"{\"type\":\"registrationrejected\",\"code\":\"c\",\"namespace\":\"n\",\"owner_worker_id\":\"\"}",
       CR_MSG_REJECTED},
      {"{\"type\":\"error\",\"error\":{\"code\":\"c\",\"message\":\"m\"}}", CR_MSG_ERROR},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    struct cr_msg msg;
    const char *why = "";
    assert_int_equal(cr_msg_decode(&msg, table[i].text, strlen(table[i].text), &why), 0);
    assert_int_equal(msg.type, table[i].type);
    cr_msg_free(&msg);
  }
}

static void what_is_wrong_is_refused_with_a_reason(void **state) {
  (void)state;
  static const char *const table[][2] = {
      {"", "not JSON"},
      {"{", "not JSON"},
      {"{\"type\":\"ping\"} x", "not JSON"},
      {"[1]", "not an object"},
      {"{}", "unknown type"},
      {"{\"type\":1}", "unknown type"},
      {"{\"type\":\"Ping\"}", "unknown type"},
      {"{\"type\":\"registerfunction\"}", "a required field is missing"},
      {"{\"type\":\"registerfunction\",\"id\":null}", "a field has the wrong type"},
      {"{\"type\":\"registerfunction\",\"id\":\"a\\u0000\"}", "a field has the wrong type"},
      {"{\"type\":\"registertrigger\",\"id\":\"a\",\"trigger_type\":\"t\",\"function_id\":\"f\"}",
       "a required field is missing"},
      {"{\"type\":\"invokefunction\",\"function_id\":\"a\",\"invocation_id\":\"0af7651e16cd43dd8448eb211c80319c\"}",
       "a field has the wrong type"},
      {"{\"type\":\"invokefunction\",\"function_id\":\"a\",\"action\":{\"type\":\"enqueue\"}}",
       "a field has the wrong type"},
      {"{\"type\":\"error\",\"error\":{\"code\":\"c\"}}", "a field has the wrong type"},
      {"{\"type\":\"error\",\"error\":\"text\"}", "a field has the wrong type"},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) assert_string_equal(refusal(table[i][0]), table[i][1]);
}

static void nesting_is_bounded(void **state) {
  (void)state;
  for (int depth = 126; depth <= 130; depth++) {
    cr_autobuf text = CR_BUF(4096);
    cr_buf_puts(&text, "{\"type\":\"invokefunction\",\"function_id\":\"a\",\"data\":");
    for (int i = 0; i < depth; i++) cr_buf_puts(&text, "[");
    for (int i = 0; i < depth; i++) cr_buf_puts(&text, "]");
    cr_buf_puts(&text, "}");
    struct cr_msg msg;
    const char *why = NULL;
    int refused = cr_msg_decode(&msg, (const char *)text.data, text.len, &why);
    assert_int_equal(refused != 0, depth + 1 > CR_BUS_DEPTH_MAX);
    if (!refused) cr_msg_free(&msg);
  }
}

static void null_is_absent_and_the_last_duplicate_wins(void **state) {
  (void)state;
  static const char text[] =
      "{\"type\":\"invokefunction\",\"function_id\":\"a\",\"function_id\":\"b\",\"invocation_id\":null,\"metadata\":"
      "null,"
      "\"namespace\":null,\"action\":null,\"data\":1.10}";
  struct cr_msg msg;
  const char *why = NULL;
  assert_int_equal(cr_msg_decode(&msg, text, sizeof text - 1, &why), 0);
  assert_string_equal(msg.function_id, "b");
  assert_null(msg.invocation_id);
  assert_null(msg.metadata);
  assert_null(msg.name_space);
  assert_int_equal(msg.action, CR_ACTION_CALL);
  assert_string_equal(yyjson_get_raw(msg.data), "1.10");
  cr_msg_free(&msg);
}

static void writing_quotes_what_must_be_and_leaves_out_what_is_absent(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(4096);
  struct cr_writer writer = cr_msg_open(&buf, "x");
  cr_write_text(&writer, "none", NULL);
  cr_write_text(&writer, "t", "a\"\\\n\001\xc3\xa4\xff");
  cr_write_json(&writer, "j", "[1.10]", 6);
  cr_msg_write_error(&writer, "c", "m", NULL);
  assert_int_equal(cr_writer_close(&writer), 0);
  static const char expected[] =
      "{\"type\":\"x\",\"t\":\"a\\\"\\\\\\n\\u0001\xc3\xa4\xef\xbf\xbd\",\"j\":[1.10],\"error\":{\"code\":\"c\","
      "\"message\":\"m\"}}";
  assert_int_equal(buf.len, sizeof expected - 1);
  assert_memory_equal(buf.data, expected, buf.len);
}

static void a_full_buffer_fails_the_message(void **state) {
  (void)state;
  for (size_t max = 0; max < 60; max++) {
    cr_autobuf buf = CR_BUF(max);
    struct cr_writer writer = cr_msg_open(&buf, "type");
    cr_write_text(&writer, "name", "value");
    cr_msg_write_error(&writer, "c", "m", "s");
    assert_int_equal(cr_writer_close(&writer), max < 75 ? -1 : 0);
    assert_true(buf.len <= max);
  }
}

UNIT_MAIN(T(every_type_is_known), T(what_is_wrong_is_refused_with_a_reason), T(nesting_is_bounded),
          T(null_is_absent_and_the_last_duplicate_wins), T(writing_quotes_what_must_be_and_leaves_out_what_is_absent),
          T(a_full_buffer_fails_the_message))
