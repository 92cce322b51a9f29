// base/yaml.h: YAML read as JSON.
#include "unit.h"

#include "base/yaml.h"

static void reads(const char *yaml, const char *json) {
  struct cr_error err = {0};
  yyjson_mut_doc *doc = cr_yaml_parse(yaml, strlen(yaml), &err);
  if (!doc) fail_msg("%s", err.message);
  char *text = yyjson_mut_write(doc, 0, NULL);
  assert_string_equal(text, json);
  free(text);
  yyjson_mut_doc_free(doc);
}

static void plain_scalars_have_types_and_quoted_ones_are_strings(void **state) {
  (void)state;
  reads("a: 1\nb: true\nc: ~\nd: text\ne: -2.5\n", "{\"a\":1,\"b\":true,\"c\":null,\"d\":\"text\",\"e\":-2.5}");
  reads("a: '1'\nb: \"true\"\nc: 'null'\n", "{\"a\":\"1\",\"b\":\"true\",\"c\":\"null\"}");
  reads("a:\n", "{\"a\":null}");
}

static void words_of_old_yaml_are_strings(void **state) {
  (void)state;
  reads("[yes, on, 0x10, 1_000, .5, 012]", "[\"yes\",\"on\",\"0x10\",\"1_000\",\".5\",\"012\"]");
}

static void json_is_yaml(void **state) {
  (void)state;
  reads("{\"a\": [1, 2, {\"b\": null}]}", "{\"a\":[1,2,{\"b\":null}]}");
}

static void nothing_is_null(void **state) {
  (void)state;
  reads("", "null");
  reads("# only a comment\n", "null");
  reads("---\n", "null");
}

static void refuses(const char *yaml) {
  struct cr_error err = {0};
  assert_null(cr_yaml_parse(yaml, strlen(yaml), &err));
  assert_string_equal(err.code, CR_INVALID_REQUEST);
  assert_true(strlen(err.message) > 5);
  cr_error_clear(&err);
}

static void what_json_cannot_say_is_refused(void **state) {
  (void)state;
  refuses("a: &x 1\nb: *x\n");
  refuses("[1, 2]: 3\n");
  refuses("a: [1\n");
  refuses("a: 1\n---\nb: 2\n");
  refuses("\ta: 1");
  refuses("a: \"\xff\"");
}

static void nesting_has_a_bound(void **state) {
  (void)state;
  char text[2001];
  memset(text, '[', 1000);
  memset(text + 1000, ']', 1000);
  text[2000] = 0;
  refuses(text);
}

UNIT_MAIN(T(plain_scalars_have_types_and_quoted_ones_are_strings), T(words_of_old_yaml_are_strings), T(json_is_yaml),
          T(nothing_is_null), T(what_json_cannot_say_is_refused), T(nesting_has_a_bound))
