// base/utf8.h: whatever the pieces, the text is valid and what was valid is unchanged.
#include "unit.h"

#include "base/utf8.h"

#define R "\xef\xbf\xbd"

static void clean_in_pieces(const char *bytes, size_t length, size_t piece, struct cr_buf *out) {
  struct cr_utf8 state = {0};
  for (size_t at = 0; at < length; at += piece)
    assert_int_equal(cr_utf8_clean(&state, bytes + at, at + piece < length ? piece : length - at, out), 0);
  assert_int_equal(cr_utf8_finish(&state, out), 0);
}

static void repairs(const char *bytes, size_t length, const char *expected) {
  for (size_t piece = 1; piece <= length; piece++) {
    cr_autobuf out = CR_BUF(4096);
    clean_in_pieces(bytes, length, piece, &out);
    assert_buf(&out, expected);
  }
}
#define REPAIRS(bytes, expected) repairs(bytes, sizeof bytes - 1, expected)

static void valid_text_is_unchanged(void **state) {
  (void)state;
  REPAIRS("plain ascii, long enough for the fast path", "plain ascii, long enough for the fast path");
  REPAIRS("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  REPAIRS("\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf", "\xf4\x8f\xbf\xbf\xee\x80\x80\xed\x9f\xbf");
}

static void invalid_bytes_become_the_replacement(void **state) {
  (void)state;
  REPAIRS("\xff\xfe", R R);
  REPAIRS(
      "a\x80"
      "b",
      "a" R "b");
  REPAIRS("\xc0\xaf", R R);
  REPAIRS("\xc3(", R "(");
  REPAIRS("\xc3\xc3\xa9", R "\xc3\xa9");
}

static void surrogates_overlong_and_too_large_forms_are_invalid(void **state) {
  (void)state;
  REPAIRS("\xed\xa0\x80", R R R);
  REPAIRS("\xe0\x80\x80", R R R);
  REPAIRS("\xf0\x80\x80\x80", R R R R);
  REPAIRS("\xf4\x90\x80\x80", R R R R);
  REPAIRS("\xf5\x80", R R);
}

static void an_unfinished_character_ends_as_one_replacement(void **state) {
  (void)state;
  REPAIRS("ab\xe2\x82", "ab" R);
  REPAIRS("\xf0\x9f\x98", R);
}

static void a_full_buffer_is_reported(void **state) {
  (void)state;
  cr_autobuf out = CR_BUF(4);
  struct cr_utf8 utf8 = {0};
  assert_int_equal(cr_utf8_clean(&utf8, "abcdefgh", 8, &out), -1);
}

static size_t naive_prefix(const uint8_t *text, size_t length, size_t most) {
  size_t best = 0;
  for (size_t i = 0; i <= length && i <= most; i++)
    if (i == length || (text[i] & 0xc0) != 0x80) best = i;
  return best;
}

static size_t naive_suffix(const uint8_t *text, size_t length, size_t most) {
  size_t best = 0;
  for (size_t i = 0; i <= length && i <= most; i++)
    if (i == 0 || (text[length - i] & 0xc0) != 0x80) best = i;
  return best;
}

static void prefixes_and_suffixes_end_on_boundaries(void **state) {
  (void)state;
  static const uint8_t text[] =
      "a\xc3\xa9"
      "b\xe2\x82\xac\xf0\x9f\x98\x80"
      "c\xf0\x9f\x98\x80";
  for (size_t length = 0; length < sizeof text; length++) {
    if (length < sizeof text - 1 && (text[length] & 0xc0) == 0x80) continue;
    for (size_t most = 0; most <= length + 2; most++) {
      assert_int_equal(cr_utf8_prefix(text, length, most), naive_prefix(text, length, most));
      assert_int_equal(cr_utf8_suffix(text, length, most), naive_suffix(text, length, most));
    }
  }
}

static void counts_code_points(void **state) {
  (void)state;
  assert_int_equal(cr_utf8_count((const uint8_t *)"", 0), 0);
  assert_int_equal(cr_utf8_count((const uint8_t *)"a\xc3\xa9\xf0\x9f\x98\x80", 7), 3);
}

UNIT_MAIN(T(valid_text_is_unchanged), T(invalid_bytes_become_the_replacement),
          T(surrogates_overlong_and_too_large_forms_are_invalid), T(an_unfinished_character_ends_as_one_replacement),
          T(a_full_buffer_is_reported), T(prefixes_and_suffixes_end_on_boundaries), T(counts_code_points))
