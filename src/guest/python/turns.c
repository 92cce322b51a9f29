#include "guest/python/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "guest/frame.h"
#include "guest/python/bridge.h"
#include "guest/zygote.h"

#define GUEST_CALL_MARGIN_MS 200
#define ANSWER_MAX (2ul * CR_FRAME_MAX)
#define STATUS_LOST 120

struct cr_turns {
  struct cr_engine *engine;
  int stream;           // -1 while warming up
  uint32_t turn;        // the frame's id
  uint64_t started_ms;  // of this turn, monotonic
  int64_t budget_ms;
  uint32_t calls;
  struct cr_buf in;
  struct cr_frame frame;  // the last one read, in `in`
  struct cr_buf out;
  const uint8_t *answer;  // of the last call, in `in`, until the guest takes it
  uint32_t answer_length;
};

// What a frame asks of cr_turn.
struct request {
  uint32_t form;
  const uint8_t *id;
  uint32_t id_length;
  const uint8_t *text;
  uint32_t length;
  int64_t most;
};

static uint64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void send_out(struct cr_turns *turns) {
  if (cr_stream_write(turns->stream, turns->out.data, turns->out.len)) _exit(0);
  cr_buf_consume(&turns->out, turns->out.len);
}

// The turn has no other end: the interpreter is gone, and the process with it.
static _Noreturn void lost(struct cr_turns *turns, const char *text) {
  if (turns->stream < 0) {
    dprintf(STDERR_FILENO, "code-runner: python: %s\n", text);
    _exit(STATUS_LOST);
  }
  struct cr_frame_writer done = cr_frame_begin(&turns->out, CR_FRAME_DONE, CR_DONE_LOST, turns->turn);
  cr_frame_number(&done, 1);
  cr_frame_number(&done, CR_RESULT_NULL);
  cr_frame_text(&done, "");
  cr_frame_text(&done, text);
  cr_frame_text(&done, "");
  if (!cr_frame_end(&done)) send_out(turns);
  _exit(STATUS_LOST);
}

static __attribute__((noreturn)) void on_exit_call(void *of, int status) {
  char text[64];
  snprintf(text, sizeof text, "the interpreter exited with status %d\n", status & 255);
  lost(of, text);
}

static _Noreturn void ended_abnormally(struct cr_turns *turns) { lost(turns, "the interpreter ended abnormally\n"); }

static uint32_t call(struct cr_turns *turns, enum cr_entry entry, const uint32_t *arguments, size_t count) {
  uint32_t result = 0;
  // What wasmtime says of a trap is not for the guest's eyes.
  if (cr_engine_call(turns->engine, entry, arguments, count, &result, NULL)) ended_abnormally(turns);
  return result;
}

static const void *span(struct cr_turns *turns, struct cr_bridge_span place) {
  const void *at = cr_engine_memory(turns->engine, place.address, place.length);
  if (!at) ended_abnormally(turns);
  return at;
}

static void write_value(struct cr_turns *turns, const struct cr_bridge_answer *answer, struct cr_frame_writer *done) {
  uint64_t numbers[3] = {answer->bytes, answer->shape, answer->count};
  uint8_t fields[36];
  if (answer->kind != CR_RESULT_OMITTED) {
    cr_frame_bytes(done, span(turns, answer->value), answer->value.length);
    return;
  }
  static const uint8_t eight[4] = {8};
  for (int i = 0; i < 3; i++) {
    memcpy(fields + i * 12, eight, 4);
    memcpy(fields + i * 12 + 4, &numbers[i], 8);
  }
  cr_frame_bytes(done, fields, sizeof fields);
}

static void write_done(struct cr_turns *turns, const struct cr_bridge_answer *answer) {
  struct cr_frame_writer done = cr_frame_begin(&turns->out, CR_FRAME_DONE, (uint8_t)answer->flags, turns->turn);
  cr_frame_number(&done, answer->exit_code);
  cr_frame_number(&done, answer->kind);
  write_value(turns, answer, &done);
  cr_frame_bytes(&done, span(turns, answer->failure), answer->failure.length);
  cr_frame_bytes(&done, span(turns, answer->note), answer->note.length);
  if (cr_frame_end(&done)) lost(turns, "the interpreter ended abnormally: its answer is too large\n");
}

// Gives the request to the interpreter. Its answer is valid until the next call.
static struct cr_bridge_answer perform(struct cr_turns *turns, const struct request *request) {
  struct cr_bridge_answer answer = {.exit_code = 1, .flags = CR_DONE_MEMORY};
  uint32_t total = request->id_length + request->length;
  uint32_t input = call(turns, CR_ENTRY_INPUT, &total, 1);
  if (!input) return answer;
  uint8_t *at = cr_engine_memory(turns->engine, input, total);
  if (!at) ended_abnormally(turns);
  if (request->id_length) memcpy(at, request->id, request->id_length);
  if (request->length) memcpy(at + request->id_length, request->text, request->length);
  uint32_t most = request->most < 0 || request->most > INT32_MAX ? INT32_MAX : (uint32_t)request->most;
  uint32_t where =
      call(turns, CR_ENTRY_TURN, (uint32_t[]){request->form, request->id_length, request->length, most}, 4);
  memcpy(&answer, span(turns, (struct cr_bridge_span){where, sizeof answer}), sizeof answer);
  return answer;
}

// A source may begin with a byte order mark, as a file may.
static void skip_mark(struct request *request) {
  if (request->length < 3 || memcmp(request->text, "\xef\xbb\xbf", 3) != 0) return;
  request->text += 3;
  request->length -= 3;
}

// Fields by type: docs/protocol.md. -1 when the frame is not one for us.
static int parse(const struct cr_frame *frame, struct request *request, int64_t *budget_ms) {
  struct cr_fields fields = cr_frame_fields(frame);
  *request = (struct request){.form = frame->type};
  switch (frame->type) {
    case CR_FRAME_SETUP: return cr_fields_bytes(&fields, &request->text, &request->length);
    case CR_FRAME_FORGET: return cr_fields_bytes(&fields, &request->id, &request->id_length);
    case CR_FRAME_RUN:
      return cr_fields_bytes(&fields, &request->text, &request->length) || cr_fields_number(&fields, &request->most) ||
                     cr_fields_number(&fields, budget_ms)
                 ? -1
                 : 0;
    case CR_FRAME_DEFINE:
    case CR_FRAME_INVOKE:
      return cr_fields_bytes(&fields, &request->id, &request->id_length) ||
                     cr_fields_bytes(&fields, &request->text, &request->length) || cr_fields_number(&fields, budget_ms)
                 ? -1
                 : 0;
    default: return -1;
  }
}

static int is_turn(uint8_t type) { return type == CR_FRAME_RUN || type == CR_FRAME_DEFINE || type == CR_FRAME_INVOKE; }

static void serve_one(struct cr_turns *turns) {
  struct request request;
  struct cr_frame frame = turns->frame;
  if (frame.type == CR_FRAME_SETTINGS || frame.type == CR_FRAME_MARKED) return;
  if (parse(&frame, &request, &turns->budget_ms)) _exit(0);
  if (frame.type == CR_FRAME_RUN || frame.type == CR_FRAME_DEFINE) skip_mark(&request);
  turns->turn = frame.id;
  turns->started_ms = now_ms();
  struct cr_bridge_answer answer = perform(turns, &request);
  if (!is_turn(frame.type)) return;
  write_done(turns, &answer);
  send_out(turns);
  if ((answer.flags & CR_DONE_LOST) || (frame.type == CR_FRAME_RUN && (frame.flags & CR_RUN_ONE_SHOT))) _exit(0);
}

static int32_t left_ms(const struct cr_turns *turns, int32_t wanted) {
  int64_t left = turns->budget_ms - (int64_t)(now_ms() - turns->started_ms) - GUEST_CALL_MARGIN_MS;
  if (wanted > 0 && wanted < left) left = wanted;
  return left < 1 ? 1 : left > INT32_MAX ? INT32_MAX : (int32_t)left;
}

// The worker sends a python runtime nothing but the answer while a turn runs, except news that need no answer.
static int32_t await_answer(struct cr_turns *turns, uint32_t id) {
  for (;;) {
    if (cr_stream_read(turns->stream, &turns->in, &turns->frame)) _exit(0);
    if (turns->frame.type == CR_FRAME_SETTINGS) continue;
    struct cr_fields fields = cr_frame_fields(&turns->frame);
    if (turns->frame.type != CR_FRAME_ANSWER || turns->frame.id != id ||
        cr_fields_bytes(&fields, &turns->answer, &turns->answer_length))
      _exit(0);
    int32_t length = (int32_t)turns->answer_length;
    return turns->frame.flags & CR_ANSWER_ERROR ? -1 - length : length;
  }
}

// trigger(id, id_length, payload, length, timeout): the answer's length, or -1 - length for an error.
static wasm_trap_t *trigger(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *values, size_t count) {
  struct cr_turns *turns = env;
  struct cr_bridge_span id = {(uint32_t)values[0].i32, (uint32_t)values[1].i32};
  struct cr_bridge_span payload = {(uint32_t)values[2].i32, (uint32_t)values[3].i32};
  (void)caller;
  (void)count;
  uint32_t number = ++turns->calls;
  struct cr_frame_writer frame = cr_frame_begin(&turns->out, CR_FRAME_CALL, CR_CALL_TRIGGER, number);
  cr_frame_bytes(&frame, span(turns, id), id.length);
  cr_frame_bytes(&frame, span(turns, payload), payload.length);
  cr_frame_text(&frame, "");
  cr_frame_number(&frame, left_ms(turns, values[4].i32));
  if (turns->stream < 0 || cr_frame_end(&frame)) ended_abnormally(turns);
  send_out(turns);
  values[0].i32 = await_answer(turns, number);
  return NULL;
}

// take(to): copies the answer that trigger spoke of.
static wasm_trap_t *take(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *values, size_t count) {
  struct cr_turns *turns = env;
  (void)caller;
  (void)count;
  if (!turns->answer_length) return NULL;
  void *to = cr_engine_memory(turns->engine, (uint32_t)values[0].i32, turns->answer_length);
  if (!to) ended_abnormally(turns);
  memcpy(to, turns->answer, turns->answer_length);
  turns->answer_length = 0;
  return NULL;
}

struct cr_turns *cr_turns_create(struct cr_engine *engine, struct cr_error *err) {
  struct cr_turns *turns = cr_alloc(sizeof *turns);
  *turns = (struct cr_turns){
      .engine = engine, .stream = -1, .in = CR_BUF(ANSWER_MAX), .out = CR_BUF(CR_FRAME_MAX + CR_FRAME_HEADER)};
  engine->wasi.exit = on_exit_call;
  engine->wasi.of = turns;
  if (!cr_engine_import(engine, "trigger", 5, 1, trigger, turns, err) &&
      !cr_engine_import(engine, "take", 1, 0, take, turns, err))
    return turns;
  free(turns);
  return NULL;
}

static void warm_run(struct cr_turns *turns, const char *code) {
  struct request request = {
      .form = CR_FRAME_RUN, .text = (const uint8_t *)code, .length = (uint32_t)strlen(code), .most = 32768};
  struct cr_bridge_answer answer = perform(turns, &request);
  write_done(turns, &answer);
  cr_buf_consume(&turns->out, turns->out.len);
}

void cr_turns_warm(struct cr_turns *turns) {
  warm_run(turns, "def f(x):\n    return {'a': [x, 2.5, None, True, 'x']}\nprint(end='')\nresult = f(1)\n");
  if (call(turns, CR_ENTRY_WAKE, NULL, 0)) ended_abnormally(turns);
}

_Noreturn void cr_turns_serve(struct cr_turns *turns, int stream) {
  turns->stream = stream;
  while (!cr_stream_read(stream, &turns->in, &turns->frame)) serve_one(turns);
  _exit(0);
}
