// worker/response.h: contract 2.2 and 5. What a guest says about itself is not believed.
#include "unit.h"

#include "base/json.h"
#include "guest/frame.h"
#include "worker/response.h"

struct made {
  struct cr_capture streams[2];
  struct cr_outcome outcome;
  struct cr_response response;
};

static void begin(struct made *made, const char *out, const char *errors, uint64_t cap) {
  *made = (struct made){0};
  const char *const texts[] = {out, errors};
  for (int i = 0; i < 2; i++) {
    cr_capture_start(&made->streams[i], cap);
    cr_capture_write(&made->streams[i], texts[i], strlen(texts[i]));
    cr_capture_finish(&made->streams[i]);
  }
  made->response = (struct cr_response){.streams = {&made->streams[0], &made->streams[1]},
                                        .duration_ms = 5,
                                        .max_result_bytes = 32,
                                        .outcome = &made->outcome};
}

static void value(struct made *made, const char *json) {
  made->outcome.kind = CR_RESULT_JSON;
  made->outcome.value = (const uint8_t *)json;
  made->outcome.value_length = (uint32_t)strlen(json);
}

static void is(struct made *made, const char *expected) {
  size_t length;
  char *text = cr_response_text(&made->response, &length);
  assert_string_equal(text, expected);
  assert_int_equal(length, strlen(expected));
  free(text);
  for (int i = 0; i < 2; i++) cr_capture_free(&made->streams[i]);
}

static void a_success(void **state) {
  (void)state;
  struct made made;
  begin(&made, "out\n", "", 100);
  value(&made, "{\"a\":[1,null]}");
  is(&made,
     "{\"stdout\":\"out\\n\",\"stderr\":\"\",\"exit_code\":0,\"success\":true,\"duration_ms\":5,"
     "\"result\":{\"a\":[1,null]}}");
}

static void a_runtime_id_comes_first_or_not_at_all(void **state) {
  (void)state;
  struct made made;
  begin(&made, "", "", 100);
  made.response.runtime_id = "rt-1";
  is(&made,
     "{\"runtime_id\":\"rt-1\",\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":0,\"success\":true,\"duration_ms\":5,"
     "\"result\":null}");
}

static void a_failure_has_no_result(void **state) {
  (void)state;
  struct made made;
  begin(&made, "", "e", 100);
  value(&made, "1");
  made.response.exit_code = 3;
  is(&made, "{\"stdout\":\"\",\"stderr\":\"e\",\"exit_code\":3,\"success\":false,\"duration_ms\":5,\"result\":null}");
}

static void numbers_are_exact(void **state) {
  (void)state;
  struct made made;
  begin(&made, "", "", 100);
  value(&made, "1000000000000000000000000000000");
  is(&made,
     "{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":0,\"success\":true,\"duration_ms\":5,"
     "\"result\":1000000000000000000000000000000}");
}

static void what_is_not_json_is_null(void **state) {
  (void)state;
  static const char *const bad[] = {"",         "{",           "1}",  "1,\"stdout\":\"forged\"",
                                    "\"\xff\"", "\"\\ud83d\"", "NaN", "undefined"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct made made;
    begin(&made, "", "", 100);
    value(&made, bad[i]);
    is(&made, "{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":0,\"success\":true,\"duration_ms\":5,\"result\":null}");
  }
}

static void a_guest_cannot_pass_a_result_over_the_cap(void **state) {
  (void)state;
  static const struct {
    const char *json, *shape;
  } cases[] = {{"[1,2,3,4,5,6,7,8,9,10,11,12,13,14]", "(14 array elements)"},
               {"{\"a\":\"xxxxxxxxxxxxxxxx\",\"b\":\"yyyyyyyyy\"}", "(2 object keys)"},
               {"\"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3"
                "\xa9\xc3\xa9\xc3\xa9\xc3\xa9\"",
                "(a 16-char string)"},
               {"123456789012345678901234567890123", "(a value)"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct made made;
    begin(&made, "", "", 100);
    value(&made, cases[i].json);
    size_t length;
    char *text = cr_response_text(&made.response, &length);
    if (!strstr(text, cases[i].shape)) fail_msg("%s is not in %s", cases[i].shape, text);
    assert_non_null(strstr(text, "\"result\":\"<omitted: result was ~0 KB ("));
    free(text);
    for (int k = 0; k < 2; k++) cr_capture_free(&made.streams[k]);
  }
}

static void a_result_of_exactly_the_cap_stays(void **state) {
  (void)state;
  struct made made;
  begin(&made, "", "", 100);
  value(&made, "\"123456789012345678901234567890\"");
  is(&made,
     "{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":0,\"success\":true,\"duration_ms\":5,"
     "\"result\":\"123456789012345678901234567890\"}");
}

static void no_cap_is_no_cap(void **state) {
  (void)state;
  struct made made;
  begin(&made, "", "", 100);
  value(&made, "\"1234567890123456789012345678901\"");
  made.response.max_result_bytes = 0;
  is(&made,
     "{\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":0,\"success\":true,\"duration_ms\":5,"
     "\"result\":\"1234567890123456789012345678901\"}");
}

static void the_ceiling_is_announced(void **state) {
  (void)state;
  static char large[CR_CAPTURE_CEILING + 10];
  memset(large, 'x', sizeof large - 1);
  struct made made;
  begin(&made, large, "e", 0);
  size_t length;
  char *text = cr_response_text(&made.response, &length);
  yyjson_doc *doc = cr_json_parse(text, length, NULL);
  const char *errors = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(doc), "stderr"));
  assert_string_equal(errors, "e\n[code-runner] captured output was truncated at 4194304 bytes\n");
  assert_int_equal(yyjson_get_len(yyjson_obj_get(yyjson_doc_get_root(doc), "stdout")), CR_CAPTURE_CEILING);
  yyjson_doc_free(doc);
  free(text);
  for (int i = 0; i < 2; i++) cr_capture_free(&made.streams[i]);
}

UNIT_MAIN(T(a_success), T(a_runtime_id_comes_first_or_not_at_all), T(a_failure_has_no_result), T(numbers_are_exact),
          T(what_is_not_json_is_null), T(a_guest_cannot_pass_a_result_over_the_cap),
          T(a_result_of_exactly_the_cap_stays), T(no_cap_is_no_cap), T(the_ceiling_is_announced))
