#include "bus/handshake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "bus/sha1.h"

struct span {
  const char *at;
  size_t length;
};

static int is(struct span span, const char *text) {
  return span.length == strlen(text) && !strncasecmp(span.at, text, span.length);
}

static struct span trimmed(const char *from, const char *to) {
  while (from < to && (*from == ' ' || *from == '\t')) from++;
  while (to > from && (to[-1] == ' ' || to[-1] == '\t')) to--;
  return (struct span){from, (size_t)(to - from)};
}

// Whether a comma-separated header value has the token.
static int has_token(struct span value, const char *token) {
  const char *at = value.at, *end = value.at + value.length;
  while (at < end) {
    const char *comma = memchr(at, ',', (size_t)(end - at));
    if (is(trimmed(at, comma ? comma : end), token)) return 1;
    if (!comma) break;
    at = comma + 1;
  }
  return 0;
}

static int copy(char *to, size_t size, struct span from) {
  if (from.length >= size || memchr(from.at, 0, from.length)) return -1;
  memcpy(to, from.at, from.length);
  to[from.length] = 0;
  return 0;
}

// Length of the head with its empty line; 0 when that has not come.
static size_t head_length(const char *bytes, size_t length) {
  const char *end = memmem(bytes, length, "\r\n\r\n", 4);
  return end ? (size_t)(end - bytes) + 4 : 0;
}

// The line at *at, which moves behind it; the empty line ends the head.
static struct span next_line(const char **at, const char *end) {
  const char *stop = memmem(*at, (size_t)(end - *at), "\r\n", 2);
  struct span line = {*at, (size_t)(stop - *at)};
  *at = stop + 2;
  return line;
}

static int split_header(struct span line, struct span *name, struct span *value) {
  const char *colon = memchr(line.at, ':', line.length);
  if (!colon || colon == line.at) return -1;
  *name = (struct span){line.at, (size_t)(colon - line.at)};
  *value = trimmed(colon + 1, line.at + line.length);
  return 0;
}

static int read_request_line(struct cr_handshake_request *request, struct span line) {
  if (line.length < 14) return -400;
  if (strncmp(line.at, "GET ", 4) != 0) return -405;
  const char *target = line.at + 4, *end = line.at + line.length;
  const char *space = memchr(target, ' ', (size_t)(end - target));
  if (!space || !is((struct span){space + 1, (size_t)(end - space - 1)}, "HTTP/1.1") || *target != '/') return -400;
  const char *mark = memchr(target, '?', (size_t)(space - target));
  const char *path_end = mark ? mark : space;
  if (copy(request->path, sizeof request->path, (struct span){target, (size_t)(path_end - target)})) return -414;
  if (mark && copy(request->query, sizeof request->query, (struct span){mark + 1, (size_t)(space - mark - 1)}))
    return -414;
  return 0;
}

ssize_t cr_handshake_request_read(struct cr_handshake_request *request, const char *bytes, size_t length) {
  size_t head = head_length(bytes, length);
  if (!head) return length >= CR_HANDSHAKE_MAX ? -431 : 0;
  if (head > CR_HANDSHAKE_MAX) return -431;
  *request = (struct cr_handshake_request){0};
  const char *at = bytes;
  int status = read_request_line(request, next_line(&at, bytes + head));
  if (status) return status;
  int upgrade = 0, connection = 0, version = 0;
  for (struct span line = next_line(&at, bytes + head), name, value; line.length; line = next_line(&at, bytes + head)) {
    if (split_header(line, &name, &value)) return -400;
    if (is(name, "upgrade")) upgrade |= has_token(value, "websocket");
    if (is(name, "connection")) connection |= has_token(value, "upgrade");
    if (is(name, "sec-websocket-version")) version |= is(value, "13");
    if (is(name, "sec-websocket-key") && copy(request->key, sizeof request->key, value)) return -400;
    if (is(name, "origin") && copy(request->origin, sizeof request->origin, value)) return -400;
  }
  request->upgrade = upgrade && connection && version && strlen(request->key) == CR_KEY_SIZE - 1;
  return (ssize_t)head;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static void decode(char *to, size_t size, const char *from, size_t length) {
  size_t count = 0;
  for (size_t i = 0; i < length && count + 1 < size; i++) {
    if (from[i] == '%' && i + 2 < length && hex_digit(from[i + 1]) >= 0 && hex_digit(from[i + 2]) >= 0) {
      to[count++] = (char)(hex_digit(from[i + 1]) * 16 + hex_digit(from[i + 2]));
      i += 2;
    } else {
      to[count++] = from[i];
    }
  }
  to[count] = 0;
}

int cr_handshake_argument(const char *query, const char *name, char *value, size_t size) {
  size_t length = strlen(name);
  value[0] = 0;
  for (const char *at = query; *at;) {
    size_t part = strcspn(at, "&");
    if (part > length && at[length] == '=' && !strncmp(at, name, length)) {
      decode(value, size, at + length + 1, part - length - 1);
      return 1;
    }
    at += part;
    if (*at) at++;
  }
  return 0;
}

void cr_handshake_key(char key[CR_KEY_SIZE]) {
  uint8_t nonce[16];
  while (getrandom(nonce, sizeof nonce, 0) != sizeof nonce)
    if (errno != EINTR) abort();
  cr_base64(nonce, sizeof nonce, key);
}

void cr_handshake_accept(const char *key, char accept[CR_ACCEPT_SIZE]) {
  static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  char text[CR_KEY_SIZE + sizeof guid];
  uint8_t digest[CR_SHA1_SIZE];
  size_t length = strnlen(key, CR_KEY_SIZE - 1);
  memcpy(text, key, length);
  memcpy(text + length, guid, sizeof guid - 1);
  cr_sha1(text, length + sizeof guid - 1, digest);
  cr_base64(digest, sizeof digest, accept);
}

int cr_handshake_request_write(struct cr_buf *out, const char *host, const char *target, const char *key) {
  return cr_buf_printf(out,
                       "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n\r\n",
                       target, host, key);
}

int cr_handshake_response_write(struct cr_buf *out, const char *key) {
  char accept[CR_ACCEPT_SIZE];
  cr_handshake_accept(key, accept);
  return cr_buf_printf(out,
                       "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: %s\r\n\r\n",
                       accept);
}

static const char *reason(int status) {
  switch (status) {
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 414: return "URI Too Long";
    case 426: return "Upgrade Required";
    case 431: return "Request Header Fields Too Large";
    default: return "Service Unavailable";
  }
}

int cr_handshake_refuse(struct cr_buf *out, int status) {
  return cr_buf_printf(out, "HTTP/1.1 %d %s\r\n%sContent-Length: 0\r\nConnection: close\r\n\r\n", status,
                       reason(status), status == 426 ? "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" : "");
}

static int status_of(struct span line) {
  if (line.length < 12 || strncmp(line.at, "HTTP/1.1 ", 9) != 0) return 0;
  int status = 0;
  for (int i = 9; i < 12; i++) {
    if (line.at[i] < '0' || line.at[i] > '9') return 0;
    status = status * 10 + line.at[i] - '0';
  }
  return status;
}

ssize_t cr_handshake_response_read(const char *bytes, size_t length, const char *key, int *status) {
  size_t head = head_length(bytes, length);
  if (!head) return length >= CR_HANDSHAKE_MAX ? -1 : 0;
  char accept[CR_ACCEPT_SIZE];
  cr_handshake_accept(key, accept);
  const char *at = bytes;
  *status = status_of(next_line(&at, bytes + head));
  int upgrade = 0, connection = 0, accepted = 0;
  for (struct span line = next_line(&at, bytes + head), name, value; line.length; line = next_line(&at, bytes + head)) {
    if (split_header(line, &name, &value)) return -1;
    if (is(name, "upgrade")) upgrade |= has_token(value, "websocket");
    if (is(name, "connection")) connection |= has_token(value, "upgrade");
    if (is(name, "sec-websocket-accept"))
      accepted |= value.length == CR_ACCEPT_SIZE - 1 && !memcmp(value.at, accept, value.length);
    // Nothing was offered, so nothing can have been selected.
    if (is(name, "sec-websocket-extensions") || is(name, "sec-websocket-protocol")) return -1;
  }
  return *status == 101 && upgrade && connection && accepted ? (ssize_t)head : -1;
}
