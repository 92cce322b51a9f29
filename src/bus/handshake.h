// The opening handshake of a WebSocket (RFC 6455 4), both ends, without any socket. Peers' bytes are untrusted.
#pragma once
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"

#define CR_HANDSHAKE_MAX 16384  // bytes of a request or response head
#define CR_ACCEPT_SIZE 29
#define CR_KEY_SIZE 25

// What a client asks for. `upgrade`: it is a well-formed WebSocket upgrade of version 13.
struct cr_handshake_request {
  char path[512];    // without the query, as sent
  char query[1024];  // without '?', as sent; "" when there is none
  char origin[256];  // "" when there is none
  char key[CR_KEY_SIZE];
  int upgrade;
};

// Bytes of the head, 0 when it is not complete yet, or minus an HTTP status when it is not acceptable.
ssize_t cr_handshake_request_read(struct cr_handshake_request *request, const char *bytes, size_t length);
// The decoded value of `name` in `query`, cut to `size`; "" when it is not there. Returns whether it is.
int cr_handshake_argument(const char *query, const char *name, char *value, size_t size);

void cr_handshake_key(char key[CR_KEY_SIZE]);
void cr_handshake_accept(const char *key, char accept[CR_ACCEPT_SIZE]);

// Each appends a whole head; -1 when the buffer is full. `status` is an error, 400 to 599, and ends the connection.
int cr_handshake_request_write(struct cr_buf *out, const char *host, const char *target, const char *key);
int cr_handshake_response_write(struct cr_buf *out, const char *key);
int cr_handshake_refuse(struct cr_buf *out, int status);

// Bytes of the head when the server agreed, 0 when it is not complete yet, -1 when it did not; `status` gets the HTTP
// status if there was one.
ssize_t cr_handshake_response_read(const char *bytes, size_t length, const char *key, int *status);
