#include "worker/caps.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"

static void describe(enum cr_result_shape shape, uint64_t count, char *text, size_t size) {
  switch (shape) {
    case CR_SHAPE_ARRAY: snprintf(text, size, "%" PRIu64 " array elements", count); break;
    case CR_SHAPE_OBJECT: snprintf(text, size, "%" PRIu64 " object keys", count); break;
    case CR_SHAPE_STRING: snprintf(text, size, "a %" PRIu64 "-char string", count); break;
    default: snprintf(text, size, "a value"); break;
  }
}

int cr_caps_result(uint64_t bytes, enum cr_result_shape shape, uint64_t count, struct cr_buf *out) {
  char text[64];
  describe(shape, count, text, sizeof text);
  return cr_buf_printf(out,
                       "<omitted: result was ~%" PRIu64
                       " KB (%s); returning it whole would flood the model context — print a slice, aggregate in code, "
                       "or write it to iii.files and return a summary>",
                       bytes / 1024, text);
}

int cr_caps_stream(const char *name, size_t cap, uint64_t total, const uint8_t *head, size_t head_length,
                   const uint8_t *tail, size_t tail_length, struct cr_buf *out) {
  if (total <= cap) return cr_buf_append(out, head, head_length);
  char marker[96];
  size_t size = (size_t)snprintf(marker, sizeof marker, "\n[…%s truncated: was ~%" PRIu64 " KB; middle omitted]\n",
                                 name, total / 1024);
  size_t budget = cap > size ? cap - size : 0;
  size_t head_n = budget * 60 / 100;
  size_t keep_head = cr_utf8_prefix(head, head_length, head_n);
  size_t keep_tail = cr_utf8_suffix(tail, tail_length, budget - head_n);
  if (cr_buf_append(out, head, keep_head) || cr_buf_append(out, marker, size)) return -1;
  return cr_buf_append(out, tail + tail_length - keep_tail, keep_tail);
}
