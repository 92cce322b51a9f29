// worker/tombstones.h: contract 12.3, at least the latest 1024 are known.
#include "unit.h"

#include <stdio.h>

#include "worker/tombstones.h"

static const char *id_of(int n) {
  static char id[CR_RUNTIME_ID_SIZE];
  snprintf(id, sizeof id, "rt-%036d", n);
  return id;
}

static void what_was_added_is_there(void **state) {
  (void)state;
  struct cr_tombstones stones = {0};
  assert_false(cr_tombstones_has(&stones, id_of(1)));
  assert_false(cr_tombstones_has(&stones, ""));
  cr_tombstones_add(&stones, id_of(1));
  assert_true(cr_tombstones_has(&stones, id_of(1)));
  assert_false(cr_tombstones_has(&stones, id_of(2)));
  assert_false(cr_tombstones_has(&stones, ""));
  cr_tombstones_free(&stones);
}

static void the_oldest_are_forgotten_and_the_latest_1024_are_not(void **state) {
  (void)state;
  struct cr_tombstones stones = {0};
  enum { MANY = CR_TOMBSTONES + 500 };
  assert_true(CR_TOMBSTONES >= 1024);
  for (int i = 0; i < MANY; i++) cr_tombstones_add(&stones, id_of(i));
  assert_false(cr_tombstones_has(&stones, id_of(0)));
  assert_false(cr_tombstones_has(&stones, id_of(499)));
  for (int i = MANY - 1024; i < MANY; i++) assert_true(cr_tombstones_has(&stones, id_of(i)));
  cr_tombstones_free(&stones);
}

static void a_text_of_any_length_is_looked_up(void **state) {
  (void)state;
  struct cr_tombstones stones = {0};
  char text[5000];
  memset(text, 'x', sizeof text);
  text[sizeof text - 1] = 0;
  cr_tombstones_add(&stones, id_of(5));
  assert_false(cr_tombstones_has(&stones, text));
  cr_tombstones_free(&stones);
}

UNIT_MAIN(T(what_was_added_is_there), T(the_oldest_are_forgotten_and_the_latest_1024_are_not),
          T(a_text_of_any_length_is_looked_up))
