// Looking at JSON text without parsing it: it came from JSON.stringify, so it is well formed.
#include <string.h>

#include "guest/node/guest.h"

static int hex(uint8_t c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

// The code unit of the \uXXXX at `at`, or -1.
static int unit(const struct cr_buf *text, size_t at) {
  if (at + 6 > text->len || text->data[at] != '\\' || text->data[at + 1] != 'u') return -1;
  const uint8_t *d = text->data + at + 2;
  return hex(d[0]) << 12 | hex(d[1]) << 8 | hex(d[2]) << 4 | hex(d[3]);
}

static int is_high(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
static int is_low(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

// Bytes of the escape at `at`; a pair of surrogates is one.
static size_t escape_size(const struct cr_buf *text, size_t at) {
  int first = unit(text, at);
  if (first < 0) return 2;
  return is_high(first) && is_low(unit(text, at + 6)) ? 12 : 6;
}

static size_t next_escape(const struct cr_buf *text, size_t from) {
  const uint8_t *at = from < text->len ? memchr(text->data + from, '\\', text->len - from) : NULL;
  return at ? (size_t)(at - text->data) : text->len;
}

void json_repair(struct cr_buf *text) {
  size_t in = next_escape(text, 0), out = in;
  while (in < text->len) {
    size_t size = escape_size(text, in);
    int first = unit(text, in);
    if (size == 6 && (is_high(first) || is_low(first))) {
      memcpy(text->data + out, "\xef\xbf\xbd", 3);
      out += 3;
      in += 6;
      size = 0;
    }
    size_t run = next_escape(text, in + size) - in;
    if (out != in) memmove(text->data + out, text->data + in, run);
    out += run;
    in += run;
  }
  text->len = out;
}

static int64_t count_characters(const struct cr_buf *text) {
  int64_t count = 0;
  for (size_t i = 1; i + 1 < text->len;) {
    if (text->data[i] == '\\') {
      i += escape_size(text, i);
      count++;
    } else {
      count += (text->data[i++] & 0xc0) != 0x80;
    }
  }
  return count;
}

static int64_t count_members(const struct cr_buf *text) {
  int64_t commas = 0;
  int depth = 0, quoted = 0;
  for (size_t i = 0; i < text->len; i++) {
    uint8_t c = text->data[i];
    if (quoted) {
      if (c == '\\')
        i++;
      else if (c == '"')
        quoted = 0;
    } else if (c == '"') {
      quoted = 1;
    } else if (c == '[' || c == '{') {
      depth++;
    } else if (c == ']' || c == '}') {
      depth--;
    } else if (c == ',' && depth == 1) {
      commas++;
    }
  }
  return text->len > 2 ? commas + 1 : 0;
}

int json_shape(const struct cr_buf *text, int64_t *count) {
  *count = 0;
  switch (text->len ? text->data[0] : 0) {
    case '[': *count = count_members(text); return CR_SHAPE_ARRAY;
    case '{': *count = count_members(text); return CR_SHAPE_OBJECT;
    case '"': *count = count_characters(text); return CR_SHAPE_STRING;
    default: return CR_SHAPE_VALUE;
  }
}
