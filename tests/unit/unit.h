// cmocka and what every unit test needs.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define UNIT_MAIN(...)                                     \
  int main(void) {                                         \
    const struct CMUnitTest tests[] = {__VA_ARGS__};       \
    return cmocka_run_group_tests(tests, NULL, NULL) != 0; \
  }
#define T(test) cmocka_unit_test(test)

#define assert_buf(buf, text)                             \
  do {                                                    \
    assert_int_equal((buf)->len, strlen(text));           \
    assert_memory_equal((buf)->data, text, strlen(text)); \
  } while (0)
