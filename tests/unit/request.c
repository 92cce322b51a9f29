// worker/request.h: contract 2.1.
#include "unit.h"

#include "base/json.h"
#include "worker/request.h"

static yyjson_doc *parse(const char *json) {
  yyjson_doc *doc = cr_json_parse(json, strlen(json), NULL);
  assert_non_null(doc);
  return doc;
}

static void refused(int result, struct cr_error *err, const char *name) {
  assert_int_equal(result, -1);
  assert_string_equal(err->code, CR_INVALID_REQUEST);
  if (!strstr(err->message, name)) fail_msg("%s is not named in: %s", name, err->message);
  cr_error_clear(err);
}

static void only_objects_are_payloads(void **state) {
  (void)state;
  static const char *const bad[] = {"null", "[]", "1", "\"x\"", "true"};
  struct cr_error err = {0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    yyjson_doc *doc = parse(bad[i]);
    refused(cr_request_object(yyjson_doc_get_root(doc), &err), &err, "object");
    yyjson_doc_free(doc);
  }
  yyjson_doc *doc = parse("{}");
  assert_int_equal(cr_request_object(yyjson_doc_get_root(doc), NULL), 0);
  yyjson_doc_free(doc);
}

static void texts(void **state) {
  (void)state;
  yyjson_doc *doc = parse("{\"s\":\"abc\",\"e\":\"\",\"n\":null,\"i\":1}");
  yyjson_val *root = yyjson_doc_get_root(doc);
  struct cr_error err = {0};
  const char *value = "before";
  size_t length = 6;
  assert_int_equal(cr_request_text(root, "n", 1, &value, &length, &err), 0);
  assert_int_equal(cr_request_text(root, "absent", 1, &value, &length, &err), 0);
  assert_string_equal(value, "before");
  refused(cr_request_text(root, "n", 0, &value, &length, &err), &err, "`n`");
  refused(cr_request_text(root, "absent", 0, &value, &length, &err), &err, "`absent`");
  refused(cr_request_text(root, "i", 1, &value, &length, &err), &err, "`i`");
  assert_int_equal(cr_request_text(root, "s", 0, &value, &length, &err), 0);
  assert_string_equal(value, "abc");
  assert_int_equal(cr_request_text(root, "e", 0, &value, &length, &err), 0);
  assert_int_equal(length, 0);
  yyjson_doc_free(doc);
}

static void unsigned_numbers(void **state) {
  (void)state;
  yyjson_doc *doc = parse(
      "{\"a\":0,\"b\":18446744073709551615,\"c\":-1,\"d\":1.5,\"e\":18446744073709551616,\"f\":\"1\","
      "\"g\":null,\"h\":true,\"i\":1.0,\"j\":-0,\"k\":1e2}");
  yyjson_val *root = yyjson_doc_get_root(doc);
  struct cr_error err = {0};
  uint64_t value = 42;
  int given = 0;
  assert_int_equal(cr_request_unsigned(root, "g", &value, &given, &err), 0);
  assert_int_equal(cr_request_unsigned(root, "absent", &value, &given, &err), 0);
  assert_false(given);
  assert_int_equal(value, 42);
  static const char *const bad[] = {"c", "d", "e", "f", "h"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    refused(cr_request_unsigned(root, bad[i], &value, &given, &err), &err, bad[i]);
  assert_false(given);
  assert_int_equal(cr_request_unsigned(root, "a", &value, &given, &err), 0);
  assert_true(given);
  assert_int_equal(value, 0);
  assert_int_equal(cr_request_unsigned(root, "b", &value, &given, &err), 0);
  assert_true(value == UINT64_MAX);
  yyjson_doc_free(doc);
}

static void switches(void **state) {
  (void)state;
  yyjson_doc *doc = parse("{\"t\":true,\"f\":false,\"n\":null,\"s\":\"true\",\"i\":1}");
  yyjson_val *root = yyjson_doc_get_root(doc);
  struct cr_error err = {0};
  int value = 7;
  assert_int_equal(cr_request_boolean(root, "absent", &value, &err), 0);
  assert_int_equal(value, 7);
  refused(cr_request_boolean(root, "n", &value, &err), &err, "`n`");
  refused(cr_request_boolean(root, "s", &value, &err), &err, "`s`");
  refused(cr_request_boolean(root, "i", &value, &err), &err, "`i`");
  assert_int_equal(cr_request_boolean(root, "t", &value, &err), 0);
  assert_int_equal(value, 1);
  assert_int_equal(cr_request_boolean(root, "f", &value, &err), 0);
  assert_int_equal(value, 0);
  yyjson_doc_free(doc);
}

static void languages(void **state) {
  (void)state;
  static const struct {
    const char *json;
    int nullable, result, lang;
  } cases[] = {{"{\"lang\":\"node\"}", 1, 0, 0},
               {"{\"lang\":\"python\"}", 0, 0, 1},
               {"{\"lang\":null}", 1, 0, -1},
               {"{}", 1, 0, -1},
               {"{}", 0, -1, -1},
               {"{\"lang\":null}", 0, -1, -1},
               {"{\"lang\":\"Node\"}", 1, -1, -1},
               {"{\"lang\":\"\"}", 1, -1, -1},
               {"{\"lang\":\"javascript\"}", 1, -1, -1},
               {"{\"lang\":\"node\\u0000\"}", 1, -1, -1},
               {"{\"lang\":1}", 1, -1, -1},
               {"{\"lang\":[\"node\"]}", 1, -1, -1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct cr_error err = {0};
    int lang = 9;
    yyjson_doc *doc = parse(cases[i].json);
    int result = cr_request_lang(yyjson_doc_get_root(doc), cases[i].nullable, &lang, &err);
    assert_int_equal(result, cases[i].result);
    assert_int_equal(lang, cases[i].lang);
    if (result) refused(result, &err, "lang");
    yyjson_doc_free(doc);
  }
}

UNIT_MAIN(T(only_objects_are_payloads), T(texts), T(unsigned_numbers), T(switches), T(languages))
