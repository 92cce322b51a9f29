// base/buf.h: a buffer never passes its maximum, and a failed call leaves it as it was.
#include "unit.h"

#include <errno.h>

#include "base/buf.h"
#include "base/mem.h"

static void appends_up_to_the_maximum(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(5);
  assert_int_equal(cr_buf_append(&buf, "abc", 3), 0);
  assert_int_equal(cr_buf_append(&buf, "de", 2), 0);
  assert_buf(&buf, "abcde");
}

static void one_over_the_maximum_changes_nothing(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(5);
  assert_int_equal(cr_buf_append(&buf, "abc", 3), 0);
  errno = 0;
  assert_int_equal(cr_buf_append(&buf, "def", 3), -1);
  assert_int_equal(errno, EMSGSIZE);
  assert_buf(&buf, "abc");
}

static void a_maximum_of_nothing_takes_nothing(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(0);
  assert_int_equal(cr_buf_append(&buf, "", 0), 0);
  assert_int_equal(cr_buf_append(&buf, "a", 1), -1);
  assert_int_equal(buf.len, 0);
}

static void sizes_that_would_wrap_are_refused(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(SIZE_MAX);
  assert_int_equal(cr_buf_append(&buf, "abc", 3), 0);
  assert_int_equal(cr_buf_reserve(&buf, SIZE_MAX), -1);
  assert_int_equal(errno, EMSGSIZE);
  assert_int_equal(cr_buf_reserve(&buf, SIZE_MAX - 2), -1);
  assert_buf(&buf, "abc");
}

static void growth_never_passes_the_maximum(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(1000);
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(cr_buf_append(&buf, "x", 1), 0);
    assert_true(buf.cap <= 1000);
  }
  assert_int_equal(cr_buf_append(&buf, "x", 1), -1);
}

static void a_failed_allocation_changes_nothing(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(1 << 20);
  assert_int_equal(cr_buf_append(&buf, "abc", 3), 0);
  char large[4096] = {0};
  cr_fail_allocations(1);
  errno = 0;
  int result = cr_buf_append(&buf, large, sizeof large);
  cr_fail_allocations(0);
  assert_int_equal(result, -1);
  assert_int_equal(errno, ENOMEM);
  assert_buf(&buf, "abc");
  assert_int_equal(cr_buf_append(&buf, large, sizeof large), 0);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  int failures = 0;
  for (unsigned long nth = 1; nth <= 8; nth++) {
    cr_autobuf buf = CR_BUF(1 << 20);
    size_t expected = 0;
    cr_fail_allocations(nth);
    for (int i = 0; i < 5000; i++) {
      if (cr_buf_append(&buf, "0123456789", 10)) {
        failures++;
        break;
      }
      expected += 10;
    }
    cr_fail_allocations(0);
    assert_int_equal(buf.len, expected);
    for (size_t i = 0; i < buf.len; i++) assert_int_equal(buf.data[i], '0' + i % 10);
  }
  assert_true(failures >= 6);
}

static void printf_and_puts_obey_the_maximum(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(8);
  assert_int_equal(cr_buf_printf(&buf, "%d-%s", 12, "abc"), 0);
  assert_buf(&buf, "12-abc");
  assert_int_equal(cr_buf_printf(&buf, "%s", "xyz"), -1);
  assert_buf(&buf, "12-abc");
  assert_int_equal(cr_buf_puts(&buf, "xy"), 0);
  assert_buf(&buf, "12-abcxy");
}

static void consume_drops_from_the_front(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(64);
  assert_int_equal(cr_buf_puts(&buf, "hello world"), 0);
  cr_buf_consume(&buf, 0);
  assert_buf(&buf, "hello world");
  cr_buf_consume(&buf, 6);
  assert_buf(&buf, "world");
  cr_buf_consume(&buf, 99);
  assert_int_equal(buf.len, 0);
}

static void a_freed_buffer_can_be_used_again(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(4);
  assert_int_equal(cr_buf_puts(&buf, "abcd"), 0);
  cr_buf_free(&buf);
  assert_int_equal(buf.len, 0);
  assert_int_equal(cr_buf_puts(&buf, "efgh"), 0);
  assert_buf(&buf, "efgh");
  assert_int_equal(cr_buf_puts(&buf, "i"), -1);
}

UNIT_MAIN(T(appends_up_to_the_maximum), T(one_over_the_maximum_changes_nothing), T(a_maximum_of_nothing_takes_nothing),
          T(sizes_that_would_wrap_are_refused), T(growth_never_passes_the_maximum),
          T(a_failed_allocation_changes_nothing), T(every_allocation_may_fail), T(printf_and_puts_obey_the_maximum),
          T(consume_drops_from_the_front), T(a_freed_buffer_can_be_used_again))
