#include "worker/capture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "worker/caps.h"

void cr_capture_start(struct cr_capture *capture, uint64_t cap) {
  int ceiling = cap == 0 || cap > CR_CAPTURE_CEILING;
  size_t limit = ceiling ? CR_CAPTURE_CEILING : (size_t)cap;
  size_t tail = limit * 2 / 5 + 8;
  *capture = (struct cr_capture){
      .limit = limit,
      .ceiling = ceiling,
      .head = CR_BUF(limit),
      .ring_size = tail > CR_CAPTURE_TAIL ? tail : CR_CAPTURE_TAIL,
  };
}

static void ring_write(struct cr_capture *capture, const uint8_t *bytes, size_t length) {
  if (!length) return;
  if (length > capture->ring_size) {
    bytes += length - capture->ring_size;
    length = capture->ring_size;
  }
  size_t first = capture->ring_size - capture->ring_at;
  if (first > length) first = length;
  memcpy(capture->ring + capture->ring_at, bytes, first);
  memcpy(capture->ring, bytes + first, length - first);
  capture->ring_at += length;
  if (capture->ring_at >= capture->ring_size) capture->ring_at -= capture->ring_size;
}

static void keep(struct cr_capture *capture, const uint8_t *bytes, size_t length) {
  if (!length) return;
  capture->total += length;
  capture->last = bytes[length - 1];
  size_t room = capture->limit - capture->head.len;
  size_t fits = length < room ? length : room;
  if (!capture->ring && fits < length) {
    capture->ring = cr_alloc(capture->ring_size);
    ring_write(capture, capture->head.data, capture->head.len);
  }
  if (capture->ring) ring_write(capture, bytes, length);
  if (cr_buf_append(&capture->head, bytes, fits)) cr_out_of_memory();
}

void cr_capture_write(struct cr_capture *capture, const void *bytes, size_t length) {
  static uint8_t storage[3 * 4096 + 16];
  const uint8_t *at = bytes;
  while (length) {
    size_t piece = length < 4096 ? length : 4096;
    struct cr_buf clean = {.data = storage, .cap = sizeof storage, .max = sizeof storage};
    (void)cr_utf8_clean(&capture->utf8, at, piece, &clean);
    keep(capture, clean.data, clean.len);
    at += piece;
    length -= piece;
  }
}

void cr_capture_finish(struct cr_capture *capture) {
  uint8_t storage[4];
  struct cr_buf clean = {.data = storage, .cap = sizeof storage, .max = sizeof storage};
  (void)cr_utf8_finish(&capture->utf8, &clean);
  keep(capture, clean.data, clean.len);
}

void cr_capture_line(struct cr_capture *capture, const char *text, size_t length) {
  cr_capture_finish(capture);
  if (capture->total && capture->last != '\n') keep(capture, (const uint8_t *)"\n", 1);
  cr_capture_write(capture, text, length);
  cr_capture_finish(capture);
  if (length && text[length - 1] != '\n') keep(capture, (const uint8_t *)"\n", 1);
}

// The last bytes, at least as many as `ring_size` (or all there are), in order. Owned by the caller.
static uint8_t *ending(const struct cr_capture *capture, size_t *length) {
  if (!capture->ring) {
    *length = capture->head.len;
    uint8_t *copy = cr_alloc(*length);
    if (*length) memcpy(copy, capture->head.data, *length);
    return copy;
  }
  size_t have = capture->total < capture->ring_size ? (size_t)capture->total : capture->ring_size;
  uint8_t *copy = cr_alloc(have);
  size_t start = (capture->ring_at + capture->ring_size - have) % capture->ring_size;
  size_t first = capture->ring_size - start < have ? capture->ring_size - start : have;
  memcpy(copy, capture->ring + start, first);
  memcpy(copy + first, capture->ring, have - first);
  *length = have;
  return copy;
}

int cr_capture_render(const struct cr_capture *capture, const char *name, struct cr_buf *out) {
  size_t length;
  cr_autofree uint8_t *end = ending(capture, &length);
  return cr_caps_stream(name, capture->limit, capture->total, capture->head.data, capture->head.len, end, length, out);
}

int cr_capture_tail(const struct cr_capture *capture, size_t most, struct cr_buf *out) {
  size_t length;
  cr_autofree uint8_t *end = ending(capture, &length);
  size_t tail = cr_utf8_suffix(end, length, most);
  return cr_buf_append(out, end + length - tail, tail);
}

void cr_capture_free(struct cr_capture *capture) {
  cr_buf_free(&capture->head);
  free(capture->ring);
  capture->ring = NULL;
}
