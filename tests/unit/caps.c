// worker/caps.h: contract 5.1 and 5.2, byte for byte.
#include "unit.h"

#include <stdio.h>

#include "worker/caps.h"

static void result_is(uint64_t bytes, enum cr_result_shape shape, uint64_t count, const char *start) {
  char expected[256];
  snprintf(
      expected, sizeof expected,
      "<omitted: result was %s; returning it whole would flood the model context \xe2\x80\x94 print a slice, aggregate "
      "in code, or write it to iii.files and return a summary>",
      start);
  cr_autobuf out = CR_BUF(1024);
  assert_int_equal(cr_caps_result(bytes, shape, count, &out), 0);
  assert_buf(&out, expected);
}

static void results_are_described(void **state) {
  (void)state;
  result_is(588891, CR_SHAPE_ARRAY, 100000, "~575 KB (100000 array elements)");
  result_is(40002, CR_SHAPE_STRING, 40000, "~39 KB (a 40000-char string)");
  result_is(40000, CR_SHAPE_ARRAY, 1, "~39 KB (1 array elements)");
  result_is(1023, CR_SHAPE_OBJECT, 2, "~0 KB (2 object keys)");
  result_is(1024, CR_SHAPE_VALUE, 0, "~1 KB (a value)");
}

static void a_full_buffer_is_reported(void **state) {
  (void)state;
  cr_autobuf out = CR_BUF(20);
  assert_int_equal(cr_caps_result(1, CR_SHAPE_VALUE, 0, &out), -1);
  assert_int_equal(out.len, 0);
}

// Section 5.2 once more, by counting characters forward instead of stepping back.
static size_t model(const char *name, size_t cap, const char *text, size_t total, char *out) {
  if (total <= cap) {
    memcpy(out, text, total);
    return total;
  }
  char marker[96];
  size_t size = (size_t)snprintf(marker, sizeof marker, "\n[\xe2\x80\xa6%s truncated: was ~%zu KB; middle omitted]\n",
                                 name, total / 1024);
  size_t budget = cap > size ? cap - size : 0, head_n = budget * 60 / 100, tail_n = budget - head_n, head = 0,
         tail = total;
  for (size_t i = 0; i <= total; i++) {
    int boundary = i == total || (text[i] & 0xc0) != 0x80;
    if (boundary && i <= head_n) head = i;
    if (boundary && total - i <= tail_n && i < tail) tail = i;
  }
  memcpy(out, text, head);
  memcpy(out + head, marker, size);
  memcpy(out + head + size, text + tail, total - tail);
  return head + size + total - tail;
}

static void matches_the_model(const char *text, size_t total, size_t cap) {
  char expected[4096];
  size_t length = model("stderr", cap, text, total, expected);
  cr_autobuf out = CR_BUF(8192);
  assert_int_equal(
      cr_caps_stream("stderr", cap, total, (const uint8_t *)text, total, (const uint8_t *)text, total, &out), 0);
  assert_int_equal(out.len, length);
  assert_memory_equal(out.data, expected, length);
}

static void every_cap_and_length_with_characters_of_every_size(void **state) {
  (void)state;
  static const char *const letters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                        "a\xf0\x9f\x98\x80\xc3\xa9"};
  for (size_t letter = 0; letter < sizeof letters / sizeof *letters; letter++) {
    char text[1024];
    size_t total = 0, size = strlen(letters[letter]);
    while (total + size < 300) {
      memcpy(text + total, letters[letter], size);
      total += size;
    }
    for (size_t length = size; length <= total; length += size)
      for (size_t cap = 1; cap < 310; cap++) matches_the_model(text, length, cap);
  }
}

static void the_boundaries_of_a_cap(void **state) {
  (void)state;
  char text[201];
  memset(text, 'x', sizeof text);
  static const size_t totals[] = {199, 200, 201};
  for (size_t i = 0; i < 3; i++) {
    cr_autobuf out = CR_BUF(1024);
    assert_int_equal(
        cr_caps_stream("stdout", 200, totals[i], (uint8_t *)text, totals[i], (uint8_t *)text, totals[i], &out), 0);
    assert_int_equal(out.len, totals[i] <= 200 ? totals[i] : 200);
    assert_int_equal(memmem(out.data, out.len, "truncated", 9) != NULL, totals[i] > 200);
  }
}

static void a_cap_below_the_marker_leaves_the_marker_alone(void **state) {
  (void)state;
  static const char marker[] = "\n[\xe2\x80\xa6stdout truncated: was ~2 KB; middle omitted]\n";
  char text[2048];
  memset(text, 'x', sizeof text);
  static const size_t caps[] = {1, 7, sizeof marker - 1};
  for (size_t i = 0; i < 3; i++) {
    cr_autobuf out = CR_BUF(1024);
    assert_int_equal(cr_caps_stream("stdout", caps[i], sizeof text, (uint8_t *)text, sizeof text, (uint8_t *)text,
                                    sizeof text, &out),
                     0);
    assert_buf(&out, marker);
  }
}

static void head_and_tail_are_sixty_to_forty(void **state) {
  (void)state;
  char text[4000];
  memset(text, 'h', 2000);
  memset(text + 2000, 't', 2000);
  cr_autobuf out = CR_BUF(8192);
  assert_int_equal(
      cr_caps_stream("stdout", 1048, sizeof text, (uint8_t *)text, sizeof text, (uint8_t *)text, sizeof text, &out), 0);
  assert_int_equal(out.len, 1048);
  size_t heads = 0, tails = 0;
  for (size_t i = 0; i < out.len && out.data[i] == 'h'; i++) heads++;
  for (size_t i = out.len; i && out.data[i - 1] == 't'; i--) tails++;
  assert_int_equal(heads, (heads + tails) * 60 / 100);
  assert_true(heads + tails > 990);
}

UNIT_MAIN(T(results_are_described), T(a_full_buffer_is_reported), T(every_cap_and_length_with_characters_of_every_size),
          T(the_boundaries_of_a_cap), T(a_cap_below_the_marker_leaves_the_marker_alone),
          T(head_and_tail_are_sixty_to_forty))
