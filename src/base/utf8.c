#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

// How many bytes the character that starts with `first` has; 0 when none can start so.
static unsigned expected(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  if (first >= 0xe0 && first <= 0xef) return 3;
  if (first >= 0xf0 && first <= 0xf4) return 4;
  return 0;
}

// Whether `next` may follow the first `count` bytes (count >= 1), overlong forms and surrogates excluded.
static int may_follow(const uint8_t *seen, unsigned count, uint8_t next) {
  if ((next & 0xc0) != 0x80) return 0;
  if (count > 1) return 1;
  switch (seen[0]) {
    case 0xe0: return next >= 0xa0;
    case 0xed: return next <= 0x9f;
    case 0xf0: return next >= 0x90;
    case 0xf4: return next <= 0x8f;
    default: return 1;
  }
}

static size_t ascii_run(const uint8_t *bytes, size_t length) {
  size_t n = 0;
  for (; n + 8 <= length; n += 8) {
    uint64_t word;
    memcpy(&word, bytes + n, 8);
    if (word & 0x8080808080808080u) break;
  }
  while (n < length && bytes[n] < 0x80) n++;
  return n;
}

int cr_utf8_finish(struct cr_utf8 *state, struct cr_buf *out) {
  if (!state->count) return 0;
  state->count = 0;
  return cr_buf_append(out, REPLACEMENT, 3);
}

static int take(struct cr_utf8 *state, uint8_t byte, struct cr_buf *out) {
  if (state->count && !may_follow(state->pending, state->count, byte) && cr_utf8_finish(state, out)) return -1;
  if (!state->count && !expected(byte)) return cr_buf_append(out, REPLACEMENT, 3);
  state->pending[state->count++] = byte;
  if (state->count < expected(state->pending[0])) return 0;
  unsigned count = state->count;
  state->count = 0;
  return cr_buf_append(out, state->pending, count);
}

int cr_utf8_clean(struct cr_utf8 *state, const void *bytes, size_t length, struct cr_buf *out) {
  const uint8_t *at = bytes, *end = at + length;
  while (at < end) {
    size_t run = state->count ? 0 : ascii_run(at, (size_t)(end - at));
    if (run && cr_buf_append(out, at, run)) return -1;
    at += run;
    if (at == end) break;
    if (take(state, *at, out)) return -1;
    at++;
  }
  return 0;
}

static int boundary(uint8_t byte) { return (byte & 0xc0) != 0x80; }

size_t cr_utf8_prefix(const uint8_t *text, size_t length, size_t most) {
  if (length <= most) return length;
  while (most && !boundary(text[most])) most--;
  return most;
}

size_t cr_utf8_suffix(const uint8_t *text, size_t length, size_t most) {
  if (length <= most) return length;
  while (most && !boundary(text[length - most])) most--;
  return most;
}

size_t cr_utf8_count(const uint8_t *text, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length; i++) count += boundary(text[i]);
  return count;
}
