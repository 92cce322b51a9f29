// base/json.h: numbers pass through exactly; texts of others are untrusted.
#include "unit.h"

#include "base/json.h"

static void passes_through(const char *text) {
  yyjson_doc *doc = cr_json_parse(text, strlen(text), NULL);
  assert_non_null(doc);
  size_t length;
  char *out = cr_json_text(yyjson_doc_get_root(doc), &length);
  assert_string_equal(out, text);
  assert_int_equal(length, strlen(text));
  free(out);
  yyjson_doc_free(doc);
}

static void integers_beyond_64_bits_are_exact(void **state) {
  (void)state;
  passes_through("[1000000000000000000000000000000,-98765432109876543210987654321,18446744073709551616]");
  passes_through("[9007199254740993,18446744073709551615,-9223372036854775808]");
}

static void refuses(const char *text) {
  struct cr_error err = {0};
  assert_null(cr_json_parse(text, strlen(text), &err));
  assert_string_equal(err.code, CR_INVALID_REQUEST);
  assert_non_null(strstr(err.message, "not JSON"));
  cr_error_clear(&err);
  assert_false(cr_json_valid(text, strlen(text), NULL));
}

static void only_one_whole_value_is_json(void **state) {
  (void)state;
  static const char *const texts[] = {"",      "{",       "1 2",      "{} {}",       "{\"a\":1}}", "'a'",
                                      "[1,]",  "NaN",     "01",       "\"\\ud83d\"", "\"\xff\"",   "\"a\nb\"",
                                      "{a:1}", "// x\n1", "[1] /**/", "tru",         "\"",         "+1"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) refuses(texts[i]);
}

static void depth_is_counted_outside_of_strings(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t depth;
  } cases[] = {{"1", 0}, {"[]", 1}, {"[[],{\"a\":[1]}]", 3}, {"\"[[[[\"", 0}, {"[\"\\\"[[\",\"{\"]", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t depth = 99;
    assert_true(cr_json_valid(cases[i].text, strlen(cases[i].text), &depth));
    assert_int_equal(depth, cases[i].depth);
  }
}

static void very_deep_text_costs_no_stack(void **state) {
  (void)state;
  size_t half = 1000000;
  char *text = malloc(2 * half);
  memset(text, '[', half);
  memset(text + half, ']', half);
  size_t depth = 0;
  assert_true(cr_json_valid(text, 2 * half, &depth));
  assert_int_equal(depth, half);
  assert_false(cr_json_valid(text, 2 * half - 1, NULL));
  free(text);
}

static void kinds_have_names(void **state) {
  (void)state;
  static const char *const cases[][2] = {{"null", "null"},      {"true", "a boolean"}, {"1", "a number"},
                                         {"1e400", "a number"}, {"\"\"", "a string"},  {"[]", "an array"},
                                         {"{}", "an object"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    yyjson_doc *doc = cr_json_parse(cases[i][0], strlen(cases[i][0]), NULL);
    assert_string_equal(cr_json_kind(yyjson_doc_get_root(doc)), cases[i][1]);
    yyjson_doc_free(doc);
  }
  assert_string_equal(cr_json_kind(NULL), "nothing");
}

UNIT_MAIN(T(integers_beyond_64_bits_are_exact), T(only_one_whole_value_is_json), T(depth_is_counted_outside_of_strings),
          T(very_deep_text_costs_no_stack), T(kinds_have_names))
