#include "bus/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <wslay/wslay.h>

#include "base/mem.h"

#define KEEP_BYTES (64u << 10)  // storage of a message buffer that is kept for the next

struct frames_input {
  const uint8_t *at;
  size_t length;
};

struct cr_frames {
  wslay_event_context_ptr ws;
  struct cr_frames_options options;
  struct frames_input input;
  struct cr_buf message;
  int control;  // the frame coming in is a control frame
  int failed;
  int deaf;
  uint8_t masks[256];
  size_t masks_left;
};

static ssize_t on_recv(wslay_event_context_ptr ws, uint8_t *bytes, size_t length, int flags, void *of) {
  (void)flags;
  struct frames_input *input = &((struct cr_frames *)of)->input;
  if (!input->length) {
    wslay_event_set_error(ws, WSLAY_ERR_WOULDBLOCK);
    return -1;
  }
  if (length > input->length) length = input->length;
  memcpy(bytes, input->at, length);
  input->at += length;
  input->length -= length;
  return (ssize_t)length;
}

static ssize_t on_send(wslay_event_context_ptr ws, const uint8_t *bytes, size_t length, int flags, void *of) {
  (void)flags;
  struct cr_frames *frames = of;
  if (!cr_buf_append(frames->options.out, bytes, length)) return (ssize_t)length;
  frames->failed = 1;
  wslay_event_set_error(ws, WSLAY_ERR_CALLBACK_FAILURE);
  return -1;
}

static int on_mask(wslay_event_context_ptr ws, uint8_t *bytes, size_t length, void *of) {
  (void)ws;
  struct cr_frames *frames = of;
  if (frames->masks_left < length) {
    while (getrandom(frames->masks, sizeof frames->masks, 0) != sizeof frames->masks)
      if (errno != EINTR) abort();
    frames->masks_left = sizeof frames->masks;
  }
  frames->masks_left -= length;
  memcpy(bytes, frames->masks + frames->masks_left, length);
  return 0;
}

static void on_frame_start(wslay_event_context_ptr ws, const struct wslay_event_on_frame_recv_start_arg *frame,
                           void *of) {
  (void)ws;
  ((struct cr_frames *)of)->control = wslay_is_ctrl_frame(frame->opcode);
}

static void on_frame_chunk(wslay_event_context_ptr ws, const struct wslay_event_on_frame_recv_chunk_arg *chunk,
                           void *of) {
  struct cr_frames *frames = of;
  if (frames->control || !cr_buf_append(&frames->message, chunk->data, chunk->data_length)) return;
  cr_buf_free(&frames->message);
  wslay_event_queue_close(ws, WSLAY_CODE_MESSAGE_TOO_BIG, NULL, 0);
  wslay_event_shutdown_read(ws);
}

static void on_message(wslay_event_context_ptr ws, const struct wslay_event_on_msg_recv_arg *arg, void *of) {
  struct cr_frames *frames = of;
  if (wslay_is_ctrl_frame(arg->opcode) || !wslay_event_get_read_enabled(ws)) return;
  if (!frames->deaf)
    frames->options.message(frames->options.of, arg->opcode == WSLAY_TEXT_FRAME ? CR_TEXT : CR_BINARY,
                            frames->message.data, frames->message.len);
  frames->message.len = 0;
  if (frames->message.cap > KEEP_BYTES) cr_buf_free(&frames->message);
}

struct cr_frames *cr_frames_create(const struct cr_frames_options *options) {
  static const struct wslay_event_callbacks callbacks = {
      .recv_callback = on_recv,
      .send_callback = on_send,
      .genmask_callback = on_mask,
      .on_frame_recv_start_callback = on_frame_start,
      .on_frame_recv_chunk_callback = on_frame_chunk,
      .on_msg_recv_callback = on_message,
  };
  struct cr_frames *frames = cr_alloc(sizeof *frames);
  frames->options = *options;
  frames->message = CR_BUF(CR_MESSAGE_BYTES_MAX);
  int error = options->client ? wslay_event_context_client_init(&frames->ws, &callbacks, frames)
                              : wslay_event_context_server_init(&frames->ws, &callbacks, frames);
  if (error) cr_out_of_memory();
  wslay_event_config_set_no_buffering(frames->ws, 1);
  wslay_event_config_set_max_recv_msg_length(frames->ws, options->frame_max);
  return frames;
}

void cr_frames_free(struct cr_frames *frames) {
  if (!frames) return;
  wslay_event_context_free(frames->ws);
  cr_buf_free(&frames->message);
  free(frames);
}

static int flush(struct cr_frames *frames) { return wslay_event_send(frames->ws) || frames->failed ? -1 : 0; }

int cr_frames_feed(struct cr_frames *frames, const uint8_t *bytes, size_t length) {
  frames->input = (struct frames_input){bytes, length};
  int error = wslay_event_recv(frames->ws);
  if (flush(frames) || error) return -1;
  return !wslay_event_get_read_enabled(frames->ws) || wslay_event_get_close_received(frames->ws);
}

int cr_frames_send(struct cr_frames *frames, enum cr_opcode opcode, const void *bytes, size_t length) {
  struct wslay_event_msg message = {.opcode = (uint8_t)opcode, .msg = bytes, .msg_length = length};
  if (wslay_event_queue_msg(frames->ws, &message)) return -1;
  return flush(frames);
}

int cr_frames_close(struct cr_frames *frames, uint16_t status, const char *reason) {
  if (wslay_event_queue_close(frames->ws, status, (const uint8_t *)reason, reason ? strlen(reason) : 0)) return -1;
  return flush(frames);
}

void cr_frames_deafen(struct cr_frames *frames) { frames->deaf = 1; }

uint16_t cr_frames_close_status(const struct cr_frames *frames) {
  if (!wslay_event_get_close_received(frames->ws)) return 0;
  uint16_t status = wslay_event_get_status_code_received(frames->ws);
  return status ? status : 1005;
}
