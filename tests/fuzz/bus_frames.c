// Bytes of a WebSocket peer: the handshake as either end sees it, and frames, in pieces whose sizes the input chooses.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bus/frames.h"
#include "bus/handshake.h"
#include "bus/url.h"

static void on_message(void *of, enum cr_opcode opcode, const uint8_t *bytes, size_t length) {
  (void)opcode;
  uint8_t *sum = of;
  for (size_t i = 0; i < length; i++) *sum ^= bytes[i];
}

static void feed_frames(int client, const uint8_t *data, size_t size) {
  uint8_t sum = 0;
  cr_autobuf out = CR_BUF(1 << 20);
  struct cr_frames_options options = {client, CR_FRAME_BYTES_MAX, &out, on_message, &sum};
  struct cr_frames *frames = cr_frames_create(&options);
  cr_frames_send(frames, CR_TEXT, "hello", 5);
  size_t step = size ? 1 + data[0] : 1;
  for (size_t at = 0; at < size; at += step) {
    size_t length = size - at < step ? size - at : step;
    if (cr_frames_feed(frames, data + at, length)) break;
  }
  cr_frames_close(frames, 1000, "bye");
  cr_frames_free(frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct cr_handshake_request request;
  char value[64];
  int status = 0;
  if (cr_handshake_request_read(&request, (const char *)data, size) > 0)
    cr_handshake_argument(request.query, "key", value, sizeof value);
  cr_handshake_response_read((const char *)data, size, "dGhlIHNhbXBsZSBub25jZQ==", &status);
  feed_frames(0, data, size);
  feed_frames(1, data, size);
  char *text = malloc(size + 1);
  struct cr_url url;
  memcpy(text, data, size);
  text[size] = 0;
  cr_url_read(&url, text, NULL);
  free(text);
  return 0;
}
