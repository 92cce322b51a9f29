// Builds one JSON object after the other in a buffer, text by text. Absent optional members are simply left out, as the
// bus wants them (spec 12.1.2).
#pragma once
#include <stddef.h>
#include <yyjson.h>

#include "base/buf.h"

// `failed` once the buffer is full; what is in it is then worthless.
struct cr_writer {
  struct cr_buf *buf;
  int failed;
  int members;
};

struct cr_writer cr_writer_open(struct cr_buf *buf);  // writes '{'
// 0, or -1 with the buffer as it was at open's `start` cut off by the caller.
int cr_writer_close(struct cr_writer *writer);  // writes '}'

// A member each; nothing when the value is NULL. Text is quoted, and made valid UTF-8 where it is not.
void cr_write_text(struct cr_writer *writer, const char *name, const char *text);
void cr_write_text_n(struct cr_writer *writer, const char *name, const char *text, size_t length);
// JSON text, taken as it is.
void cr_write_json(struct cr_writer *writer, const char *name, const char *json, size_t length);
void cr_write_value(struct cr_writer *writer, const char *name, yyjson_val *value);

// A quoted string, no member.
int cr_quote(struct cr_buf *buf, const char *text, size_t length);
