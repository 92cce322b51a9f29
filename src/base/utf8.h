// UTF-8 (RFC 3629): everything that leaves the worker is valid; what is not becomes U+FFFD.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

// Remembers an unfinished character at the end of one piece for the next.
struct cr_utf8 {
  uint8_t pending[4];
  uint8_t count;
};

// Appends the valid form of `bytes` to `out`, at most three times as long plus three. Returns 0 or -1 (buffer full).
int cr_utf8_clean(struct cr_utf8 *state, const void *bytes, size_t length, struct cr_buf *out);
// The end of the text: an unfinished character becomes U+FFFD.
int cr_utf8_finish(struct cr_utf8 *state, struct cr_buf *out);

// The longest prefix (or suffix) of at most `most` bytes that ends (starts) on a character boundary, in bytes: a
// boundary is any byte that is not 10xxxxxx.
size_t cr_utf8_prefix(const uint8_t *text, size_t length, size_t most);
size_t cr_utf8_suffix(const uint8_t *text, size_t length, size_t most);

// Number of code points in valid UTF-8.
size_t cr_utf8_count(const uint8_t *text, size_t length);
