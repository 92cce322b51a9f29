// SHA-1 (RFC 3174) and Base64 (RFC 4648), for the accept key of a WebSocket handshake (RFC 6455 4.2.2) and nothing
// else.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define CR_SHA1_SIZE 20
#define CR_BASE64_SIZE(bytes) (((bytes) + 2) / 3 * 4 + 1)

void cr_sha1(const void *bytes, size_t length, uint8_t digest[CR_SHA1_SIZE]);
// Writes CR_BASE64_SIZE(length) characters, the last one NUL.
void cr_base64(const void *bytes, size_t length, char *text);
