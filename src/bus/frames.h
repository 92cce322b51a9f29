// WebSocket frames after the handshake (RFC 6455 5 to 7, through wslay), without any socket: bytes in, messages out,
// and bytes to be sent appended to a buffer. Peers' bytes are untrusted. Pings are answered, a Close is echoed, text is
// valid UTF-8; no extension is spoken.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define CR_FRAME_BYTES_MAX (16u << 20)    // of one frame, either direction, as a real engine (spec 1)
#define CR_MESSAGE_BYTES_MAX (64u << 20)  // of one message coming in

enum cr_opcode { CR_TEXT = 1, CR_BINARY = 2, CR_PING = 9 };

struct cr_frames;

// A whole message, valid during the call. Never called again after cr_frames_free, which it may not call itself.
typedef void cr_frames_message(void *of, enum cr_opcode opcode, const uint8_t *bytes, size_t length);

struct cr_frames_options {
  int client;        // masks what it sends
  size_t frame_max;  // of one frame coming in
  struct cr_buf *out;
  cr_frames_message *message;
  void *of;
};

struct cr_frames *cr_frames_create(const struct cr_frames_options *options);
void cr_frames_free(struct cr_frames *frames);

// 0: go on; 1: nothing more will be read (Close received, or an error was answered with one): send what is in `out`,
// then end the connection; -1: end it at once.
int cr_frames_feed(struct cr_frames *frames, const uint8_t *bytes, size_t length);

// One message, or a ping, as one frame. -1 when the connection is closing or `out` is full.
int cr_frames_send(struct cr_frames *frames, enum cr_opcode opcode, const void *bytes, size_t length);
// The Close frame; `status` 0 sends none (RFC 6455 5.5.1). Nothing can be sent after it.
int cr_frames_close(struct cr_frames *frames, uint16_t status, const char *reason);
// No message is delivered any more, not even one that is in the bytes being fed.
void cr_frames_deafen(struct cr_frames *frames);
// Status of the Close received: 0 none yet, 1005 without a status.
uint16_t cr_frames_close_status(const struct cr_frames *frames);
