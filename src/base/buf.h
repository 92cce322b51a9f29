// A growable byte buffer that is born with its maximum.
#pragma once
#include <stddef.h>
#include <stdint.h>

// `data[0 .. len)` is valid; owned by the buffer. Zeroed except for `max` is an empty buffer.
struct cr_buf {
  uint8_t *data;
  size_t len;
  size_t cap;
  size_t max;
};

#define CR_BUF(maximum) ((struct cr_buf){.max = (maximum)})
#define cr_autobuf __attribute__((cleanup(cr_buf_free))) struct cr_buf

// Each returns 0, or -1 with errno EMSGSIZE (over `max`) or ENOMEM; the buffer is then as it was.
int cr_buf_reserve(struct cr_buf *buf, size_t more);
int cr_buf_append(struct cr_buf *buf, const void *bytes, size_t length);
int cr_buf_puts(struct cr_buf *buf, const char *text);
int cr_buf_printf(struct cr_buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Drops the first `length` bytes (at most all).
void cr_buf_consume(struct cr_buf *buf, size_t length);

// Frees the storage; the maximum stays, so the buffer can be used again.
void cr_buf_free(struct cr_buf *buf);
