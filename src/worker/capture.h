// What a run printed on one stream, in bounded memory: the beginning, the end and the true total (contract 5.2, 5.3).
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/utf8.h"

#define CR_CAPTURE_CEILING (4u << 20)
#define CR_CAPTURE_TAIL 16384  // bytes of the end that are always kept

// All sizes are bytes of valid UTF-8: what is not valid has become U+FFFD.
struct cr_capture {
  struct cr_utf8 utf8;
  size_t limit;  // the stream cap in force, never 0
  int ceiling;   // 1: `limit` is the ceiling, not a cap that was asked for
  uint64_t total;
  struct cr_buf head;  // the first `limit` bytes
  uint8_t *ring;       // the last `ring_size` bytes, once there are more
  size_t ring_size;
  size_t ring_at;
  uint8_t last;
};

// `cap`: max_stream_bytes, 0 for no cap.
void cr_capture_start(struct cr_capture *capture, uint64_t cap);
// Never fails: what does not fit is counted.
void cr_capture_write(struct cr_capture *capture, const void *bytes, size_t length);
// Text of the worker's own, on a line of its own.
void cr_capture_line(struct cr_capture *capture, const char *text, size_t length);
void cr_capture_finish(struct cr_capture *capture);

// The stream as the response shows it, appended to `out`; `name` is "stdout" or "stderr".
int cr_capture_render(const struct cr_capture *capture, const char *name, struct cr_buf *out);
// The last `most` bytes (at most CR_CAPTURE_TAIL), from a character boundary.
int cr_capture_tail(const struct cr_capture *capture, size_t most, struct cr_buf *out);
void cr_capture_free(struct cr_capture *capture);
