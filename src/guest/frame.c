#include "guest/frame.h"

#include <errno.h>
#include <string.h>

static uint32_t load32(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

ssize_t cr_frame_parse(struct cr_frame *frame, const uint8_t *bytes, size_t length, uint32_t max) {
  if (length < CR_FRAME_HEADER) return 0;
  uint32_t payload = load32(bytes);
  if (payload > max || bytes[6] || bytes[7]) return -1;
  if (length - CR_FRAME_HEADER < payload) return 0;
  *frame = (struct cr_frame){
      .type = bytes[4],
      .flags = bytes[5],
      .id = load32(bytes + 8),
      .length = payload,
      .payload = bytes + CR_FRAME_HEADER,
  };
  return (ssize_t)payload + CR_FRAME_HEADER;
}

struct cr_fields cr_frame_fields(const struct cr_frame *frame) {
  return (struct cr_fields){.at = frame->payload, .end = frame->payload + frame->length};
}

int cr_fields_bytes(struct cr_fields *fields, const uint8_t **bytes, uint32_t *length) {
  if (fields->end - fields->at < 4) return -1;
  uint32_t size = load32(fields->at);
  if (size > (size_t)(fields->end - fields->at) - 4) return -1;
  *bytes = fields->at + 4;
  *length = size;
  fields->at += 4 + (size_t)size;
  return 0;
}

int cr_fields_number(struct cr_fields *fields, int64_t *number) {
  struct cr_fields ahead = *fields;
  const uint8_t *bytes;
  uint32_t length;
  if (cr_fields_bytes(&ahead, &bytes, &length) || length != 8) return -1;
  *number = (int64_t)((uint64_t)load32(bytes) | (uint64_t)load32(bytes + 4) << 32);
  *fields = ahead;
  return 0;
}

struct cr_frame_writer cr_frame_begin(struct cr_buf *buf, uint8_t type, uint8_t flags, uint32_t id) {
  struct cr_frame_writer writer = {.buf = buf, .start = buf->len};
  uint8_t header[CR_FRAME_HEADER] = {0};
  header[4] = type;
  header[5] = flags;
  store32(header + 8, id);
  writer.failed = cr_buf_append(buf, header, sizeof header);
  return writer;
}

void cr_frame_bytes(struct cr_frame_writer *writer, const void *bytes, size_t length) {
  if (writer->failed) return;
  if (length > CR_FRAME_MAX || cr_buf_reserve(writer->buf, length + 4)) {
    writer->failed = -1;
    return;
  }
  uint8_t size[4];
  store32(size, (uint32_t)length);
  (void)cr_buf_append(writer->buf, size, sizeof size);
  (void)cr_buf_append(writer->buf, bytes, length);
}

void cr_frame_text(struct cr_frame_writer *writer, const char *text) { cr_frame_bytes(writer, text, strlen(text)); }

void cr_frame_number(struct cr_frame_writer *writer, int64_t number) {
  uint8_t bytes[8];
  store32(bytes, (uint32_t)((uint64_t)number & 0xffffffffu));
  store32(bytes + 4, (uint32_t)((uint64_t)number >> 32));
  cr_frame_bytes(writer, bytes, sizeof bytes);
}

int cr_frame_end(struct cr_frame_writer *writer) {
  size_t payload = writer->failed ? 0 : writer->buf->len - writer->start - CR_FRAME_HEADER;
  if (payload > CR_FRAME_MAX) writer->failed = -1;
  if (writer->failed) {
    writer->buf->len = writer->start;
    errno = EMSGSIZE;
    return -1;
  }
  store32(writer->buf->data + writer->start, (uint32_t)payload);
  return 0;
}

void cr_frame_set_id(uint8_t *bytes, uint32_t id) { store32(bytes + 8, id); }
