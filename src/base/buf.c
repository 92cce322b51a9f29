#include "base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int cr_buf_reserve(struct cr_buf *buf, size_t more) {
  if (more > buf->max || buf->len > buf->max - more) {
    errno = EMSGSIZE;
    return -1;
  }
  size_t need = buf->len + more;
  if (need <= buf->cap) return 0;
  size_t cap = buf->cap ? buf->cap : 256;
  while (cap < need) cap = cap > buf->max / 2 ? buf->max : cap * 2;
  if (cap > buf->max) cap = buf->max;
  uint8_t *data = cr_try_realloc(buf->data, cap);
  if (!data) {
    errno = ENOMEM;
    return -1;
  }
  buf->data = data;
  buf->cap = cap;
  return 0;
}

int cr_buf_append(struct cr_buf *buf, const void *bytes, size_t length) {
  if (cr_buf_reserve(buf, length)) return -1;
  if (length) memcpy(buf->data + buf->len, bytes, length);
  buf->len += length;
  return 0;
}

int cr_buf_puts(struct cr_buf *buf, const char *text) { return cr_buf_append(buf, text, strlen(text)); }

int cr_buf_printf(struct cr_buf *buf, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) {
    errno = ENOMEM;
    return -1;
  }
  int result = cr_buf_append(buf, text, (size_t)length);
  free(text);
  return result;
}

void cr_buf_consume(struct cr_buf *buf, size_t length) {
  if (length >= buf->len) {
    buf->len = 0;
    return;
  }
  memmove(buf->data, buf->data + length, buf->len - length);
  buf->len -= length;
}

void cr_buf_free(struct cr_buf *buf) {
  free(buf->data);
  *buf = CR_BUF(buf->max);
}
