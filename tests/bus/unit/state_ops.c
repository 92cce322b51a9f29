#include "unit.h"

#include "bus/engine/state_ops.h"

// What `ops` make of `before` (NULL: nothing), and the codes of their errors.
static void check(const char *before, const char *ops, const char *after, const char *codes) {
  yyjson_doc *old = before ? yyjson_read(before, strlen(before), YYJSON_READ_NUMBER_AS_RAW) : NULL;
  yyjson_doc *list = yyjson_read(ops, strlen(ops), YYJSON_READ_NUMBER_AS_RAW);
  assert_true(cr_state_ops_known(yyjson_doc_get_root(list)));
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = old ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(old)) : NULL;
  yyjson_mut_val *errors = yyjson_mut_arr(doc);
  root = cr_state_ops(doc, root, yyjson_doc_get_root(list), errors);
  char *text = yyjson_mut_val_write(root, 0, NULL);
  assert_string_equal(text, after);
  yyjson_mut_val *first = yyjson_mut_obj_get(yyjson_mut_arr_get(errors, 0), "code");
  assert_string_equal(first ? yyjson_mut_get_str(first) : "", codes);
  free(text);
  yyjson_mut_doc_free(doc);
  yyjson_doc_free(list);
  yyjson_doc_free(old);
}

static void numbers_stay_exact(void **state) {
  (void)state;
  check("{\"big\":123456789012345678901234567890,\"f\":1.10}", "[{\"type\":\"set\",\"path\":\"n\",\"value\":2.50}]",
        "{\"big\":123456789012345678901234567890,\"f\":1.10,\"n\":2.50}", "");
}

static void increments_at_the_edges(void **state) {
  (void)state;
  check("9223372036854775806", "[{\"type\":\"increment\",\"path\":\"\",\"by\":1}]", "9223372036854775807", "");
  check("-5", "[{\"type\":\"decrement\",\"path\":\"\",\"by\":-9}]", "4", "");
  check("1", "[{\"type\":\"increment\",\"path\":\"\",\"by\":1.5}]", "1", "increment.not_number");
  check("1", "[{\"type\":\"increment\",\"path\":\"\",\"by\":9223372036854775808}]", "1", "increment.not_number");
  check("1e999", "[{\"type\":\"increment\",\"path\":\"\",\"by\":1}]", "1e999", "increment.not_number");
  check("{\"n\":1}",
        "[{\"type\":\"increment\",\"path\":\"n\",\"by\":1},{\"type\":\"increment\",\"path\":\"n\",\"by\":1}]",
        "{\"n\":3}", "");
}

static void unknown_operations_are_known_to_be_so(void **state) {
  (void)state;
  static const char *const table[] = {"{}", "[1]", "[{\"type\":\"x\"}]", "[{}]", "null"};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    yyjson_doc *list = yyjson_read(table[i], strlen(table[i]), YYJSON_READ_NUMBER_AS_RAW);
    assert_false(cr_state_ops_known(yyjson_doc_get_root(list)));
    yyjson_doc_free(list);
  }
}

UNIT_MAIN(T(numbers_stay_exact), T(increments_at_the_edges), T(unknown_operations_are_known_to_be_so))
