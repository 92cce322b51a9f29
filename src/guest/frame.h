// Frames of the runtime stream: docs/protocol.md. Used by both ends.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"

#define CR_FRAME_HEADER 12
#define CR_FRAME_MAX (64u << 20)

enum cr_frame_type {
  CR_FRAME_SETUP = 1,
  CR_FRAME_RUN = 2,
  CR_FRAME_DEFINE = 3,
  CR_FRAME_INVOKE = 4,
  CR_FRAME_FORGET = 5,
  CR_FRAME_NOTIFY = 6,
  CR_FRAME_ANSWER = 7,
  CR_FRAME_MARKED = 8,
  CR_FRAME_SETTINGS = 9,
  CR_FRAME_PING = 10,
  CR_FRAME_DONE = 65,
  CR_FRAME_CALL = 66,
  CR_FRAME_MARK = 67,
  CR_FRAME_PONG = 68,
  CR_FRAME_PARKED = 69,
};

enum cr_run_flag { CR_RUN_ONE_SHOT = 1 };
enum cr_answer_flag { CR_ANSWER_ERROR = 1 };
enum cr_done_flag { CR_DONE_LOST = 1, CR_DONE_MEMORY = 2, CR_DONE_DISK = 4, CR_DONE_UNHANDLED = 8 };
enum cr_result_kind { CR_RESULT_NULL = 0, CR_RESULT_JSON = 1, CR_RESULT_OMITTED = 2 };
enum cr_result_shape { CR_SHAPE_VALUE = 0, CR_SHAPE_ARRAY = 1, CR_SHAPE_OBJECT = 2, CR_SHAPE_STRING = 3 };

enum cr_call_op {
  CR_CALL_TRIGGER = 1,
  CR_CALL_REGISTER_FUNCTION = 2,
  CR_CALL_UNREGISTER_FUNCTION = 3,
  CR_CALL_REGISTER_TRIGGER = 4,
  CR_CALL_UNREGISTER_TRIGGER = 5,
  CR_CALL_REGISTER_TRIGGER_TYPE = 6,
  CR_CALL_UNREGISTER_TRIGGER_TYPE = 7,
};

// A parsed frame; `payload` points into the caller's bytes.
struct cr_frame {
  uint8_t type;
  uint8_t flags;
  uint32_t id;
  uint32_t length;
  const uint8_t *payload;
};

// Looks for one whole frame at the start of `bytes`. Returns its size in bytes, 0 when more bytes are needed, or -1
// when the header is malformed (payload over `max`, or the zero bytes are not zero).
ssize_t cr_frame_parse(struct cr_frame *frame, const uint8_t *bytes, size_t length, uint32_t max);

// Reading fields in order. Each returns 0, or -1 when there is no such field (or a number is not 8 bytes).
struct cr_fields {
  const uint8_t *at;
  const uint8_t *end;
};
struct cr_fields cr_frame_fields(const struct cr_frame *frame);
int cr_fields_bytes(struct cr_fields *fields, const uint8_t **bytes, uint32_t *length);
int cr_fields_number(struct cr_fields *fields, int64_t *number);

// Writing: begin, add fields, end. Any failure (buffer full) is remembered and reported by cr_frame_end, which then
// takes the unfinished frame out again and returns -1.
struct cr_frame_writer {
  struct cr_buf *buf;
  size_t start;
  int failed;
};
struct cr_frame_writer cr_frame_begin(struct cr_buf *buf, uint8_t type, uint8_t flags, uint32_t id);
void cr_frame_bytes(struct cr_frame_writer *writer, const void *bytes, size_t length);
void cr_frame_text(struct cr_frame_writer *writer, const char *text);
void cr_frame_number(struct cr_frame_writer *writer, int64_t number);
int cr_frame_end(struct cr_frame_writer *writer);

// Gives a finished frame, at `bytes`, another id.
void cr_frame_set_id(uint8_t *bytes, uint32_t id);
