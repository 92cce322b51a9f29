#include "bus/writer.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

struct cr_writer cr_writer_open(struct cr_buf *buf) {
  struct cr_writer writer = {.buf = buf};
  writer.failed = cr_buf_append(buf, "{", 1);
  return writer;
}

int cr_writer_close(struct cr_writer *writer) {
  writer->failed |= cr_buf_append(writer->buf, "}", 1);
  return writer->failed ? -1 : 0;
}

static int escape(struct cr_buf *buf, unsigned char c) {
  static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
  for (const char *at = shorts; *at; at += 2)
    if ((unsigned char)*at == c) return cr_buf_append(buf, (char[]){'\\', at[1]}, 2);
  return cr_buf_printf(buf, "\\u%04x", c);
}

static int quote_valid(struct cr_buf *buf, const char *text, size_t length) {
  int failed = cr_buf_append(buf, "\"", 1);
  size_t from = 0;
  for (size_t i = 0; i < length && !failed; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    failed = cr_buf_append(buf, text + from, i - from) || escape(buf, c);
    from = i + 1;
  }
  return failed || cr_buf_append(buf, text + from, length - from) || cr_buf_append(buf, "\"", 1) ? -1 : 0;
}

static int is_ascii(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] >= 0x80) return 0;
  return 1;
}

int cr_quote(struct cr_buf *buf, const char *text, size_t length) {
  if (is_ascii(text, length)) return quote_valid(buf, text, length);
  struct cr_utf8 state = {0};
  cr_autobuf clean = CR_BUF(buf->max);
  if (cr_utf8_clean(&state, text, length, &clean) || cr_utf8_finish(&state, &clean)) return -1;
  return quote_valid(buf, (const char *)clean.data, clean.len);
}

static void name_member(struct cr_writer *writer, const char *name) {
  if (writer->members++) writer->failed |= cr_buf_append(writer->buf, ",", 1);
  writer->failed |= cr_quote(writer->buf, name, strlen(name)) || cr_buf_append(writer->buf, ":", 1);
}

void cr_write_text_n(struct cr_writer *writer, const char *name, const char *text, size_t length) {
  if (!text || writer->failed) return;
  name_member(writer, name);
  writer->failed |= cr_quote(writer->buf, text, length);
}

void cr_write_text(struct cr_writer *writer, const char *name, const char *text) {
  if (text) cr_write_text_n(writer, name, text, strlen(text));
}

void cr_write_json(struct cr_writer *writer, const char *name, const char *json, size_t length) {
  if (!json || writer->failed) return;
  name_member(writer, name);
  writer->failed |= cr_buf_append(writer->buf, json, length);
}

void cr_write_value(struct cr_writer *writer, const char *name, yyjson_val *value) {
  if (!value || writer->failed) return;
  size_t length = 0;
  char *text = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, &length);
  if (text)
    cr_write_json(writer, name, text, length);
  else
    writer->failed = -1;
  free(text);
}
