#include "console/request.h"

#include <string.h>
#include <strings.h>

static int copy(char *to, size_t size, const char *from, size_t length) {
  if (length >= size || memchr(from, 0, length)) return -1;
  memcpy(to, from, length);
  to[length] = 0;
  return 0;
}

static int read_line(struct cr_console_request *request, const char *line, size_t length) {
  const char *space = memchr(line, ' ', length);
  if (!space) return -1;
  const char *target = space + 1;
  const char *end = memchr(target, ' ', length - (size_t)(target - line));
  if (!end || *target != '/') return -1;
  size_t size = strcspn(target, "? ");
  return copy(request->method, sizeof request->method, line, (size_t)(space - line)) ||
                 copy(request->path, sizeof request->path, target, size)
             ? -1
             : 0;
}

static int read_field(struct cr_console_request *request, const char *line, size_t length) {
  const char *colon = memchr(line, ':', length);
  if (!colon) return -1;
  size_t name = (size_t)(colon - line);
  const char *value = colon + 1;
  while (value < line + length && (*value == ' ' || *value == '\t')) value++;
  size_t size = (size_t)(line + length - value);
  if (name == 4 && !strncasecmp(line, "host", 4))
    return *request->host || copy(request->host, sizeof request->host, value, size);
  if (name == 6 && !strncasecmp(line, "origin", 6)) return copy(request->origin, sizeof request->origin, value, size);
  if (name == 7 && !strncasecmp(line, "upgrade", 7))
    request->upgrade = size == 9 && !strncasecmp(value, "websocket", 9);
  return 0;
}

ssize_t cr_console_request_read(struct cr_console_request *request, const char *bytes, size_t length) {
  *request = (struct cr_console_request){0};
  const char *end = memmem(bytes, length, "\r\n\r\n", 4);
  if (!end) return length >= CR_CONSOLE_HEAD_MAX ? -1 : 0;
  const char *at = bytes;
  while (at < end + 2) {
    const char *line_end = memmem(at, (size_t)(end + 2 - at), "\r\n", 2);
    size_t size = (size_t)(line_end - at);
    if (at == bytes) request->line_end = size + 2;
    if (at == bytes ? read_line(request, at, size) : read_field(request, at, size)) return -1;
    at = line_end + 2;
  }
  return end + 4 - bytes;
}
