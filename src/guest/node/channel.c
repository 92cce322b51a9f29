// Frames between the worker and the harness: docs/protocol.md.
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest/node/guest.h"

#define CHUNK (64u << 10)
#define FIELDS_MAX 5

// The fields of what the worker sends: s text, n number.
static const char *const shapes[] = {
    [CR_FRAME_SETUP] = "snnnn", [CR_FRAME_RUN] = "snn",     [CR_FRAME_DEFINE] = "ssn", [CR_FRAME_INVOKE] = "ssn",
    [CR_FRAME_FORGET] = "s",    [CR_FRAME_NOTIFY] = "sssn", [CR_FRAME_ANSWER] = "s",   [CR_FRAME_SETTINGS] = "nn",
};

static _Noreturn void leave(void) { _exit(0); }

static _Noreturn void broken(const char *what) {
  dprintf(STDERR_FILENO, "code-runner: %s\n", what);
  _exit(70);
}

void channel_send(void) {
  if (cr_stream_write(guest.runtime.stream, guest.out.data, guest.out.len)) leave();
  guest.out.len = 0;
  if (guest.out.cap > 4 * CHUNK) cr_buf_free(&guest.out);
}

// Reads what is there; waits when nothing is.
static void fill(void) {
  if (cr_buf_reserve(&guest.in, guest.in.cap > guest.in.len ? 1 : CHUNK)) broken("too many frames at once");
  ssize_t got;
  do got = read(guest.runtime.stream, guest.in.data + guest.in.len, guest.in.cap - guest.in.len);
  while (got < 0 && errno == EINTR);
  if (got > 0)
    guest.in.len += (size_t)got;
  else if (got == 0 || errno != EAGAIN)
    leave();
}

static size_t whole_frame(struct cr_frame *frame, size_t at) {
  ssize_t size = cr_frame_parse(frame, guest.in.data + at, guest.in.len - at, CR_FRAME_MAX);
  if (size < 0) broken("malformed frame");
  return (size_t)size;
}

static void take_out(size_t at, size_t size) {
  memmove(guest.in.data + at, guest.in.data + at + size, guest.in.len - at - size);
  guest.in.len -= size;
  if (!guest.in.len && guest.in.cap > 4 * CHUNK) cr_buf_free(&guest.in);
}

static void send_empty(uint8_t type, uint32_t id) {
  struct cr_frame_writer writer = cr_frame_begin(&guest.out, type, 0, id);
  if (cr_frame_end(&writer)) broken("out of memory");
  channel_send();
}

static size_t fields_to_values(const struct cr_frame *frame, napi_value *values) {
  struct cr_fields fields = cr_frame_fields(frame);
  const char *shape = frame->type < sizeof shapes / sizeof *shapes ? shapes[frame->type] : NULL;
  size_t count = 0;
  if (!shape) broken("unknown frame");
  for (; *shape; shape++) {
    const uint8_t *bytes;
    uint32_t length;
    int64_t number;
    if (*shape == 'n' ? cr_fields_number(&fields, &number) : cr_fields_bytes(&fields, &bytes, &length))
      broken("a frame lacks a field");
    values[count++] = *shape == 'n' ? make_number(guest.env, (double)number) : make_string(guest.env, bytes, length);
  }
  return count;
}

static napi_value reference(napi_ref ref) {
  napi_value value = NULL;
  napi_get_reference_value(guest.env, ref, &value);
  return value;
}

static napi_value call_harness(napi_ref function, size_t count, const napi_value *values) {
  napi_value result = NULL;
  if (napi_call_function(guest.env, make_undefined(guest.env), reference(function), count, values, &result) != napi_ok)
    broken("the harness failed");
  return result;
}

// The guest's function is called from here, so that no frame of the harness is in its stack traces.
static void call_guest(napi_value function) {
  napi_env env = guest.env;
  napi_value outcome[2] = {NULL, NULL};
  napi_status status = napi_call_function(env, make_undefined(env), function, 0, NULL, &outcome[1]);
  if (status != napi_ok && napi_get_and_clear_last_exception(env, &outcome[1]) != napi_ok) broken("lost an exception");
  napi_get_boolean(env, status == napi_ok, &outcome[0]);
  call_harness(guest.ended, 2, outcome);
}

// Promise jobs and ticks run when the callback scope closes.
static void deliver(size_t count, const napi_value *values) {
  napi_env env = guest.env;
  napi_callback_scope callback;
  if (napi_open_callback_scope(env, reference(guest.resource), guest.context, &callback) != napi_ok)
    broken("no callback scope");
  napi_value function = call_harness(guest.dispatch, count, values);
  napi_valuetype type = napi_undefined;
  napi_typeof(env, function, &type);
  if (type == napi_function) call_guest(function);
  napi_close_callback_scope(env, callback);
}

static int is_turn(uint8_t type) {
  return type == CR_FRAME_RUN || type == CR_FRAME_DEFINE || type == CR_FRAME_INVOKE || type == CR_FRAME_NOTIFY;
}

// Handles the whole frames in `in`, each with its promise jobs.
static void pump(void) {
  struct cr_frame frame;
  for (size_t size; (size = whole_frame(&frame, 0));) {
    if (frame.type == CR_FRAME_PING) {
      uint32_t id = frame.id;
      take_out(0, size);
      send_empty(CR_FRAME_PONG, id);
      continue;
    }
    napi_handle_scope scope;
    napi_value values[3 + FIELDS_MAX];
    napi_open_handle_scope(guest.env, &scope);
    values[0] = make_number(guest.env, frame.type);
    values[1] = make_number(guest.env, frame.flags);
    values[2] = make_number(guest.env, frame.id);
    size_t count = 3 + fields_to_values(&frame, values + 3);
    guest.turns += is_turn(frame.type);
    take_out(0, size);  // before anything else looks at `in`
    deliver(count, values);
    napi_close_handle_scope(guest.env, scope);
  }
}

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)poll, (void)events;
  if (status) leave();
  fill();
  pump();
}

static void on_backlog(uv_idle_t *idle) {
  uv_idle_stop(idle);
  pump();
}

void channel_start(void) {
  while (!guest.turns) {
    fill();
    pump();
  }
  uv_idle_init(guest.loop, &guest.backlog);
  if (uv_poll_init(guest.loop, &guest.readable, guest.runtime.stream)) broken("uv_poll_init");
  uv_poll_start(&guest.readable, UV_READABLE, on_readable);
}

void channel_prompt(int what, uint32_t number) {
  napi_handle_scope scope;
  napi_open_handle_scope(guest.env, &scope);
  napi_value values[2] = {make_number(guest.env, what), make_number(guest.env, number)};
  deliver(2, values);
  napi_close_handle_scope(guest.env, scope);
}

int channel_waiting(void) {
  struct pollfd stream = {.fd = guest.runtime.stream, .events = POLLIN};
  return poll(&stream, 1, 0) > 0;
}

static int append_field(napi_env env, struct cr_frame_writer *writer, napi_value value) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, value, &type);
  if (type == napi_number) {
    cr_frame_number(writer, to_number(env, value));
    return 0;
  }
  cr_autobuf text = CR_BUF(CR_FRAME_MAX);
  if (append_string(env, value, &text)) return -1;
  cr_frame_bytes(writer, text.data, text.len);
  return 0;
}

// Returns the call's id, or -1 with an exception pending.
static int64_t send_call(napi_env env, const struct arguments *arguments) {
  int64_t id = to_number(env, arguments->at[1]);
  struct cr_frame_writer writer =
      cr_frame_begin(&guest.out, CR_FRAME_CALL, (uint8_t)to_number(env, arguments->at[0]), (uint32_t)id);
  for (size_t i = 2; i < arguments->count; i++) {
    if (append_field(env, &writer, arguments->at[i])) {
      guest.out.len = 0;
      return -1;
    }
  }
  if (cr_frame_end(&writer)) {
    throw_error(env, "the message is too long");
    return -1;
  }
  channel_send();
  return id;
}

napi_value guest_call(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  return send_call(env, &arguments) < 0 ? NULL : make_undefined(env);
}

// Waits for the frame of this type and id; those before it keep their order and are handled by the loop afterwards.
static size_t await_frame(struct cr_frame *frame, uint8_t type, uint32_t id, size_t *at) {
  *at = 0;
  for (;;) {
    size_t size = whole_frame(frame, *at);
    if (!size)
      fill();
    else if (frame->type == type && frame->id == id)
      return size;
    else
      *at += size;
  }
}

static void finish_wait(size_t at, size_t size) {
  take_out(at, size);
  if (guest.in.len && guest.backlog.loop) uv_idle_start(&guest.backlog, on_backlog);
}

napi_value guest_ask(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  int64_t id = send_call(env, &arguments);
  if (id < 0) return NULL;
  struct cr_frame frame;
  size_t at, size = await_frame(&frame, CR_FRAME_ANSWER, (uint32_t)id, &at);
  napi_value text;
  int failed = frame.flags & CR_ANSWER_ERROR;
  fields_to_values(&frame, &text);
  finish_wait(at, size);
  if (!failed) return text;
  napi_value error;
  napi_create_error(env, NULL, text, &error);
  napi_throw(env, error);
  return NULL;
}

napi_value guest_mark(napi_env env, napi_callback_info info) {
  (void)info;
  static uint32_t marks;
  struct cr_frame frame;
  send_empty(CR_FRAME_MARK, ++marks);
  size_t at, size = await_frame(&frame, CR_FRAME_MARKED, marks, &at);
  finish_wait(at, size);
  return make_undefined(env);
}
