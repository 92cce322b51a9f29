#include "unit.h"

#include "bus/engine/expand.h"

static void check(const char *from, const char *to, const char *missing) {
  yyjson_doc *doc = yyjson_read(from, strlen(from), YYJSON_READ_NUMBER_AS_RAW);
  yyjson_mut_doc *out = yyjson_mut_doc_new(NULL);
  cr_autobuf unset = CR_BUF(4096);
  yyjson_mut_val *value = cr_expand(out, yyjson_doc_get_root(doc), &unset);
  char *text = yyjson_mut_val_write(value, 0, NULL);
  cr_buf_append(&unset, "", 1);
  assert_string_equal(text, to);
  assert_string_equal((const char *)unset.data, missing);
  free(text);
  yyjson_mut_doc_free(out);
  yyjson_doc_free(doc);
}

static void names_without_value_are_listed_once(void **state) {
  (void)state;
  unsetenv("CR_A");
  unsetenv("CR_AB");
  check("[\"${CR_AB}\",{\"k\":\"${CR_A} ${CR_AB}\"},\"${CR_A}\"]",
        "[\"${CR_AB}\",{\"k\":\"${CR_A} ${CR_AB}\"},\"${CR_A}\"]", "CR_AB, CR_A");
}

static void the_engine_version_has_a_name(void **state) {
  (void)state;
  check("\"v${CR_A:__III_ENGINE_VERSION__}\"", "\"v" CR_VERSION "\"", "");
}

static void a_replacement_is_not_replaced_again(void **state) {
  (void)state;
  setenv("CR_A", "${CR_B}", 1);
  setenv("CR_B", "b", 1);
  check("\"x${CR_A}\"", "\"x${CR_B}\"", "");
}

static void the_sum_of_all_texts_is_bounded(void **state) {
  (void)state;
  char *large = malloc(1 << 20);
  memset(large, 'x', (1 << 20) - 1);
  large[(1 << 20) - 1] = 0;
  setenv("CR_A", large, 1);
  cr_autobuf text = CR_BUF(65536), unset = CR_BUF(4096);
  cr_buf_puts(&text, "[\"${CR_A}\"");
  for (int i = 0; i < 99; i++) cr_buf_puts(&text, ",\"${CR_A}\"");
  cr_buf_puts(&text, "]");
  yyjson_doc *doc = yyjson_read((const char *)text.data, text.len, 0);
  yyjson_mut_doc *out = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *value = cr_expand(out, yyjson_doc_get_root(doc), &unset);
  size_t total = 0, index, count;
  yyjson_mut_val *item;
  yyjson_mut_arr_foreach(value, index, count, item) total += yyjson_mut_get_len(item);
  assert_int_equal(count, 100);
  assert_true(total <= 17u << 20);
  yyjson_mut_doc_free(out);
  yyjson_doc_free(doc);
  unsetenv("CR_A");
  free(large);
}

UNIT_MAIN(T(names_without_value_are_listed_once), T(the_engine_version_has_a_name),
          T(a_replacement_is_not_replaced_again), T(the_sum_of_all_texts_is_bounded))
