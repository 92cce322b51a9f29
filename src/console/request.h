// The head of an HTTP/1.1 request (RFC 9112), as much of it as the console looks at. Untrusted bytes.
#pragma once
#include <stddef.h>
#include <sys/types.h>

#define CR_CONSOLE_HEAD_MAX 16384u

struct cr_console_request {
  char method[8];
  char path[512];  // without the query
  char host[256];
  char origin[256];
  int upgrade;      // to a WebSocket
  size_t line_end;  // where the request line ends, its CRLF included
};

// Bytes of the head, 0 when it is not complete yet, -1 when it is not a request.
ssize_t cr_console_request_read(struct cr_console_request *request, const char *bytes, size_t length);
