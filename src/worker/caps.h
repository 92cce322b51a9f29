// Output caps (contract 5): what a response shows of a result or a stream that is too big for a model's context.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "guest/frame.h"

// The text of 5.1 in place of a result of `bytes` bytes of JSON. `count`: elements, keys or code points.
int cr_caps_result(uint64_t bytes, enum cr_result_shape shape, uint64_t count, struct cr_buf *out);

// Section 5.2. The stream has `total` bytes; `head` are its first (at least `cap`, or all) and `tail` its last (at
// least the budget's 40 %, or all). `cap` is not 0.
int cr_caps_stream(const char *name, size_t cap, uint64_t total, const uint8_t *head, size_t head_length,
                   const uint8_t *tail, size_t tail_length, struct cr_buf *out);
