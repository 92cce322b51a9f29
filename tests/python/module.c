// The rewriting of a module around a snapshot.
#include <string.h>

#include "guest/python/bake/module.h"
#include "unit.h"

#define PAGE 65536

// One memory of one page (at most four), a mutable and an immutable global, exports `memory`, `gone`, `kept`, a data
// segment, and a custom section.
static const uint8_t module[] = {
    0, 'a', 's', 'm',  1,   0,    0,    0,                                      // header
    5, 4,   1,   1,    1,   4,                                                  // memory
    6, 12,  2,   0x7f, 1,   0x41, 0x80, 0x08, 0x0b, 0x7f, 0, 0x41, 5,    0x0b,  // globals
    7, 24,  3,   6,    'm', 'e',  'm',  'o',  'r',  'y',  2, 0,    4,    'g',  'o',  'n', 'e', 3,
    0, 4,   'k', 'e',  'p', 't',  3,    1,    11,   8,    1, 0,    0x41, 16,   0x0b, 2,   'h', 'i',  // data
    0, 5,   4,   'n',  'a', 'm',  'e',
};

static const uint8_t expected_head[] = {
    0,    'a',  's',  'm',  1,    0,   0,    0, 5,    4,  1,  1, 2,    4,    6,    13,   2,    0x7f, 1,   0x41,
    0xb0, 0x80, 0x04, 0x0b, 0x7f, 0,   0x41, 5, 0x0b, 7,  17, 2, 6,    'm',  'e',  'm',  'o',  'r',  'y', 2,
    0,    4,    'k',  'e',  'p',  't', 3,    1, 11,   10, 1,  0, 0x41, 0xc0, 0x80, 0x04, 0x0b, 2,    'a', 'b',
};

static const char *const dropped[] = {"gone", NULL};
static uint8_t memory[2 * PAGE];

static struct cr_snapshot snapshot(void) {
  memset(memory, 0, sizeof memory);
  memory[10] = 'x';  // below the stack pointer: dead
  memory[PAGE + 64] = 'a';
  memory[PAGE + 65] = 'b';
  return (struct cr_snapshot){.memory = memory, .length = sizeof memory, .stack_pointer = PAGE + 48};
}

static void memory_stack_and_exports_are_replaced(void **state) {
  cr_autobuf out = CR_BUF(1u << 20);
  struct cr_snapshot taken = snapshot();
  struct cr_error err = {0};
  (void)state;
  assert_int_equal(cr_module_bake(module, sizeof module, &taken, dropped, &out, &err), 0);
  assert_int_equal(out.len, sizeof expected_head);
  assert_memory_equal(out.data, expected_head, sizeof expected_head);
}

static void cut_modules_are_refused_or_whole_sections(void **state) {
  struct cr_snapshot taken = snapshot();
  (void)state;
  for (size_t length = 0; length < sizeof module; length++) {
    cr_autobuf out = CR_BUF(1u << 20);
    struct cr_error err = {0};
    // An exact copy, so that a sanitizer sees a read past its end.
    uint8_t *cut = malloc(length ? length : 1);
    memcpy(cut, module, length);
    int boundary = length == 8 || length == 14 || length == 28 || length == 54 || length == 64;
    assert_int_equal(cr_module_bake(cut, length, &taken, dropped, &out, &err), boundary ? 0 : -1);
    if (!boundary) assert_non_null(err.message);
    cr_error_clear(&err);
    free(cut);
  }
}

static void bent_modules_do_not_crash(void **state) {
  struct cr_snapshot taken = snapshot();
  (void)state;
  for (size_t at = 0; at < sizeof module; at++)
    for (int bit = 0; bit < 8; bit++) {
      cr_autobuf out = CR_BUF(1u << 20);
      struct cr_error err = {0};
      uint8_t *bent = malloc(sizeof module);
      memcpy(bent, module, sizeof module);
      bent[at] ^= (uint8_t)(1 << bit);
      (void)cr_module_bake(bent, sizeof module, &taken, dropped, &out, &err);
      cr_error_clear(&err);
      free(bent);
    }
}

static void too_large_is_said(void **state) {
  cr_autobuf out = CR_BUF(59);
  struct cr_snapshot taken = snapshot();
  struct cr_error err = {0};
  (void)state;
  assert_int_equal(cr_module_bake(module, sizeof module, &taken, dropped, &out, &err), -1);
  assert_string_equal(err.message, "the baked module is too large");
  cr_error_clear(&err);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_stack_and_exports_are_replaced),
      cmocka_unit_test(cut_modules_are_refused_or_whole_sections),
      cmocka_unit_test(bent_modules_do_not_crash),
      cmocka_unit_test(too_large_is_said),
  };
  return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
