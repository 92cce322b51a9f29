// ws:// addresses (RFC 6455 3).
#pragma once
#include <stdint.h>

#include "base/err.h"

struct cr_url {
  char host[256];       // without the brackets of an IPv6 address
  char authority[272];  // host and port as the Host header wants them
  char target[768];     // path and query, "/" at least
  uint16_t port;        // 80 when there is none
};

// 0, or -1 and `err`: not a ws:// address (wss:// is named: there is no TLS here), or too long.
int cr_url_read(struct cr_url *url, const char *text, struct cr_error *err);
