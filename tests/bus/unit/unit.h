// cmocka, and a loop without sockets.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define T(test) cmocka_unit_test(test)
#define UNIT_MAIN(...)                                     \
  int main(void) {                                         \
    const struct CMUnitTest tests[] = {__VA_ARGS__};       \
    return cmocka_run_group_tests(tests, NULL, NULL) != 0; \
  }
