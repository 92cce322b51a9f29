// worker/mask.h: contract 3.5. And base/id.h, base/err.h, which make what it hides and carries.
#include "unit.h"

#include "base/err.h"
#include "base/id.h"
#include "worker/mask.h"

#define ID1 "rt-01234567-89ab-4cde-8f01-23456789abcd"
#define ID2 "rt-ffffffff-ffff-4fff-bfff-ffffffffffff"
#define HIDDEN "rt-************************************"

static void masks(const char *before, const char *known, const char *after) {
  char text[256];
  assert_true(strlen(before) < sizeof text);
  memcpy(text, before, strlen(before) + 1);
  cr_mask_ids(text, known);
  assert_string_equal(text, after);
}

static void every_id_is_hidden_but_the_callers(void **state) {
  (void)state;
  masks("", NULL, "");
  masks(ID1, NULL, HIDDEN);
  masks("a " ID1 " b " ID2 " c", ID2, "a " HIDDEN " b " ID2 " c");
  masks(ID1 ID2, ID1, ID1 HIDDEN);
  masks("x" ID1 "y", NULL, "x" HIDDEN "y");
  masks("rt-" ID1, NULL, "rt-" HIDDEN);
}

static void what_is_no_id_stays(void **state) {
  (void)state;
  masks("rt-0123 start-up rt-", NULL, "rt-0123 start-up rt-");
  masks("rt-0123456789ab-4cde-8f01-23456789abcd00000", NULL, "rt-0123456789ab-4cde-8f01-23456789abcd00000");
}

static void upper_case_is_hidden_as_well(void **state) {
  (void)state;
  masks("rt-01234567-89AB-4CDE-8F01-23456789ABCD", NULL, HIDDEN);
}

static void ids_are_version_4_and_differ(void **state) {
  (void)state;
  char ids[200][CR_UUID_SIZE];
  for (int i = 0; i < 200; i++) {
    cr_uuid(ids[i]);
    assert_int_equal(strlen(ids[i]), 36);
    assert_int_equal(ids[i][14], '4');
    assert_non_null(strchr("89ab", ids[i][19]));
    for (int k = 0; k < i; k++) assert_string_not_equal(ids[i], ids[k]);
  }
}

static void errors_are_replaced_moved_and_cleared(void **state) {
  (void)state;
  struct cr_error a = {0}, b = {0};
  assert_int_equal(cr_error_set(&a, CR_TIMEOUT, "%d", 1), -1);
  assert_int_equal(cr_error_set(&a, CR_ENGINE, "text %s", "x"), -1);
  assert_string_equal(a.code, "code-runner::engine");
  assert_string_equal(a.message, "text x");
  assert_int_equal(cr_error_set(&b, CR_CAPACITY, "old"), -1);
  cr_error_move(&b, &a);
  assert_string_equal(b.message, "text x");
  assert_null(a.message);
  cr_error_clear(&b);
  assert_null(b.code);
  assert_int_equal(cr_error_set(NULL, CR_ENGINE, "nobody listens"), -1);
}

UNIT_MAIN(T(every_id_is_hidden_but_the_callers), T(what_is_no_id_stays), T(upper_case_is_hidden_as_well),
          T(ids_are_version_4_and_differ), T(errors_are_replaced_moved_and_cleared))
