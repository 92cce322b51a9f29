#include "bus/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int bad(struct cr_error *err, const char *text) {
  return cr_error_set(err, CR_ENGINE, "not a ws:// address: %.200s", text);
}

static int clean(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f) return 0;
  return 1;
}

static int read_port(struct cr_url *url, const char *text, size_t length) {
  unsigned long port = 0;
  if (!length || length > 5) return -1;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return -1;
    port = port * 10 + (unsigned long)(text[i] - '0');
  }
  if (!port || port > 65535) return -1;
  url->port = (uint16_t)port;
  return 0;
}

int cr_url_read(struct cr_url *url, const char *text, struct cr_error *err) {
  if (!strncasecmp(text, "wss://", 6))
    return cr_error_set(err, CR_ENGINE, "wss:// is not supported; use a ws:// address: %.200s", text);
  if (strncasecmp(text, "ws://", 5) != 0) return bad(err, text);
  *url = (struct cr_url){.port = 80};
  const char *authority = text + 5;
  size_t length = strcspn(authority, "/?#");
  const char *rest = authority + length, *host = authority;
  size_t rest_length = strcspn(rest, "#"), host_length = strcspn(host, ":/?#");
  if (*host == '[') {
    host++;
    host_length = strcspn(host, "]/?#");
    if (host[host_length] != ']') return bad(err, text);
  }
  const char *after = host + host_length + (*authority == '[');
  if (after < rest && (*after != ':' || read_port(url, after + 1, (size_t)(rest - after - 1)))) return bad(err, text);
  if (!host_length || host_length >= sizeof url->host || length >= sizeof url->authority ||
      rest_length + 2 > sizeof url->target || !clean(authority, length) || !clean(rest, rest_length) ||
      memchr(authority, '@', length))
    return bad(err, text);
  memcpy(url->host, host, host_length);
  memcpy(url->authority, authority, length);
  size_t slash = *rest != '/';
  if (slash) url->target[0] = '/';
  memcpy(url->target + slash, rest, rest_length);
  return 0;
}
