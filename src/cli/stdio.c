#include "cli/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define LINE_LIMIT (96ul << 20)
#define QUEUE_LIMIT (512ul << 20)
#define QUEUE_FULL (32ul << 20)  // no request is read while so much is unwritten
#define CHUNK (256u << 10)

struct cr_stdio {
  struct cr_worker *worker;
  void (*done)(void *of);
  void *of;
  uv_poll_t input;
  uv_poll_t output;
  int input_polled;
  int output_polled;
  int reading;
  int writing;
  int handles;
  struct cr_buf in;
  struct cr_buf out;
  size_t waiting;
  int ended;
  int freed;
};

struct call {
  struct cr_stdio *stdio;
  char *id;  // JSON text
};

static void on_input(uv_poll_t *poll, int status, int events);
static void on_output(uv_poll_t *poll, int status, int events);

static void maybe_done(struct cr_stdio *stdio) {
  if (!stdio->ended || stdio->waiting || stdio->out.len || !stdio->done) return;
  void (*done)(void *of) = stdio->done;
  stdio->done = NULL;
  done(stdio->of);
}

static void set_poll(uv_poll_t *poll, int *active, int wanted, int events, uv_poll_cb callback) {
  if (wanted == *active) return;
  *active = wanted;
  if (wanted)
    uv_poll_start(poll, events, callback);
  else
    uv_poll_stop(poll);
}

static void update(struct cr_stdio *stdio) {
  int reading = !stdio->ended && stdio->out.len <= QUEUE_FULL;
  if (stdio->input_polled) set_poll(&stdio->input, &stdio->reading, reading, UV_READABLE, on_input);
  if (stdio->output_polled) set_poll(&stdio->output, &stdio->writing, stdio->out.len > 0, UV_WRITABLE, on_output);
  maybe_done(stdio);
}

static void write_out(struct cr_stdio *stdio) {
  size_t sent = 0;
  while (sent < stdio->out.len) {
    ssize_t n = write(STDOUT_FILENO, stdio->out.data + sent, stdio->out.len - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) {  // nobody reads any more
      sent = stdio->out.len;
      stdio->ended = 1;
    }
    if (n <= 0) break;
    sent += (size_t)n;
  }
  cr_buf_consume(&stdio->out, sent);
}

static void put_line(struct cr_stdio *stdio, yyjson_mut_doc *doc) {
  size_t length;
  cr_autofree char *text = cr_json_mut_text(doc, &length);
  if (cr_buf_append(&stdio->out, text, length) || cr_buf_puts(&stdio->out, "\n")) cr_out_of_memory();
  write_out(stdio);
}

static void answer(struct cr_stdio *stdio, const char *id, const char *result, size_t length,
                   const struct cr_error *err) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_val(doc, root, "id", yyjson_mut_raw(doc, id));
  if (err) {
    yyjson_mut_val *error = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, error, "code", err->code);
    cr_autofree char *message = cr_format("%s: %s", err->code, err->message);
    yyjson_mut_obj_add_strcpy(doc, error, "message", message);
    yyjson_mut_obj_add_val(doc, root, "error", error);
  } else {
    yyjson_mut_obj_add_val(doc, root, "result", yyjson_mut_rawn(doc, result, length));
  }
  put_line(stdio, doc);
  yyjson_mut_doc_free(doc);
}

static void on_reply(void *of, const char *result, size_t length, const struct cr_error *err) {
  struct call *call = of;
  struct cr_stdio *stdio = call->stdio;
  stdio->waiting--;
  if (!stdio->freed) {
    answer(stdio, call->id, result, length, err);
    update(stdio);
  }
  free(call->id);
  free(call);
}

static void refuse(struct cr_stdio *stdio, const char *id, struct cr_error *err) {
  answer(stdio, id, NULL, 0, err);
  cr_error_clear(err);
}

static void take_line(struct cr_stdio *stdio, const char *line, size_t length) {
  struct cr_error err = {0};
  yyjson_doc *doc = yyjson_read_opts((char *)line, length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  yyjson_val *root = yyjson_doc_get_root(doc);
  yyjson_val *id = yyjson_obj_get(root, "id"), *name = yyjson_obj_get(root, "function_id");
  yyjson_val *payload = yyjson_obj_get(root, "payload");
  cr_autofree char *id_text = id ? cr_json_text(id, NULL) : cr_strdup("null");
  if (!yyjson_is_obj(root) || !yyjson_is_str(name)) {
    cr_error_set(&err, CR_INVALID_REQUEST,
                 "a request is one line of JSON: {\"id\", \"function_id\": string, \"payload\"}");
    refuse(stdio, id_text, &err);
    yyjson_doc_free(doc);
    return;
  }
  struct call *call = cr_alloc(sizeof *call);
  *call = (struct call){.stdio = stdio, .id = cr_strdup(id_text)};
  stdio->waiting++;
  size_t size = 4;
  cr_autofree char *text = payload ? cr_json_text(payload, &size) : cr_strdup("null");
  cr_autofree char *function = cr_strdup(yyjson_get_str(name));
  yyjson_doc_free(doc);
  cr_worker_call(stdio->worker, function, text, size, on_reply, call);
}

static int blank(const char *line, size_t length) { return strspn(line, " \t\r\n") >= length; }

static void take_lines(struct cr_stdio *stdio) {
  size_t used = 0;
  for (;;) {
    char *line = (char *)stdio->in.data + used;
    size_t left = stdio->in.len - used;
    char *end = left ? memchr(line, '\n', left) : NULL;
    if (!end && !(stdio->ended && left)) break;
    size_t length = end ? (size_t)(end - line) : left;
    cr_autofree char *copy = cr_strndup(line, length);
    if (!blank(copy, length)) take_line(stdio, copy, length);
    used += length + (end ? 1 : 0);
  }
  cr_buf_consume(&stdio->in, used);
}

static void take_input(struct cr_stdio *stdio) {
  if (cr_buf_reserve(&stdio->in, CHUNK)) {
    struct cr_error err = {0};
    cr_error_set(&err, CR_INVALID_REQUEST, "a line is longer than %lu bytes; reading ends here", LINE_LIMIT);
    refuse(stdio, "null", &err);
    stdio->in.len = 0;
    stdio->ended = 1;
    return;
  }
  ssize_t n = read(STDIN_FILENO, stdio->in.data + stdio->in.len, CHUNK);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n > 0)
    stdio->in.len += (size_t)n;
  else
    stdio->ended = 1;
  take_lines(stdio);
}

static void on_input(uv_poll_t *poll, int status, int events) {
  struct cr_stdio *stdio = poll->data;
  (void)events;
  if (status)
    stdio->ended = 1;
  else
    take_input(stdio);
  update(stdio);
}

static void on_output(uv_poll_t *poll, int status, int events) {
  struct cr_stdio *stdio = poll->data;
  (void)status, (void)events;
  write_out(stdio);
  update(stdio);
}

// Files are never "not ready": they need no poll, and cannot be polled.
static int pollable(int descriptor) {
  struct stat status;
  return !fstat(descriptor, &status) && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

static int watch(struct cr_stdio *stdio, uv_loop_t *loop, uv_poll_t *poll, int descriptor) {
  poll->data = stdio;
  if (uv_poll_init(loop, poll, descriptor)) return 0;
  stdio->handles++;
  return 1;
}

struct cr_stdio *cr_stdio_start(uv_loop_t *loop, struct cr_worker *worker, void (*done)(void *of), void *of) {
  struct cr_stdio *stdio = cr_alloc(sizeof *stdio);
  *stdio =
      (struct cr_stdio){.worker = worker, .done = done, .of = of, .in = CR_BUF(LINE_LIMIT), .out = CR_BUF(QUEUE_LIMIT)};
  stdio->input_polled = watch(stdio, loop, &stdio->input, STDIN_FILENO);
  if (pollable(STDOUT_FILENO)) stdio->output_polled = watch(stdio, loop, &stdio->output, STDOUT_FILENO);
  if (!stdio->input_polled)
    while (!stdio->ended) take_input(stdio);
  update(stdio);
  return stdio;
}

static void on_closed(uv_handle_t *handle) {
  struct cr_stdio *stdio = handle->data;
  if (--stdio->handles == 0) free(stdio);
}

void cr_stdio_free(struct cr_stdio *stdio) {
  stdio->freed = 1;
  stdio->done = NULL;
  cr_buf_free(&stdio->in);
  cr_buf_free(&stdio->out);
  int handles = stdio->handles;
  if (stdio->input_polled) uv_close((uv_handle_t *)&stdio->input, on_closed);
  if (stdio->output_polled) uv_close((uv_handle_t *)&stdio->output, on_closed);
  if (!handles) free(stdio);
}
