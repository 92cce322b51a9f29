#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/zygote.h"

static int wait_for(int stream, short events) {
  struct pollfd wait = {.fd = stream, .events = events};
  return poll(&wait, 1, -1) < 0 && errno != EINTR ? -1 : 0;
}

int cr_stream_write(int stream, const void *bytes, size_t length) {
  const char *at = bytes;
  while (length) {
    ssize_t sent = write(stream, at, length);
    if (sent >= 0) {
      at += sent;
      length -= (size_t)sent;
    } else if (errno == EAGAIN) {
      if (wait_for(stream, POLLOUT)) return -1;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return 0;
}

// The frame read last is taken out first, so that `frame` stays valid until the next call.
int cr_stream_read(int stream, struct cr_buf *buf, struct cr_frame *frame) {
  if (frame->payload) cr_buf_consume(buf, CR_FRAME_HEADER + (size_t)frame->length);
  *frame = (struct cr_frame){0};
  for (;;) {
    ssize_t size = cr_frame_parse(frame, buf->data, buf->len, CR_FRAME_MAX);
    if (size) return size > 0 ? 0 : -1;
    if (cr_buf_reserve(buf, buf->cap > buf->len ? 1 : 65536)) return -1;
    ssize_t got = read(stream, buf->data + buf->len, buf->cap - buf->len);
    if (got > 0)
      buf->len += (size_t)got;
    else if (got == 0)
      return -1;
    else if (errno == EAGAIN ? wait_for(stream, POLLIN) : errno != EINTR)
      return -1;
  }
}
