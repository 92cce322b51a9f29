// Drives the client of src/bus/client.h for client.test.mjs: commands are lines on standard input, what happens are
// JSON lines on standard output. `testclient URL NAME [NAMESPACE]`.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "bus/client.h"
#include "bus/writer.h"

#define WORDS 5

static uv_loop_t loop;
static uv_pipe_t input;
static struct cr_bus *bus;
static struct cr_buf line = {.max = 1 << 20};
static struct cr_bus_invocation *held[64];
static int held_count;
static struct cr_bus_ack *held_ack;
static uint64_t last_call;

static void print(struct cr_writer *writer) {
  cr_writer_close(writer);
  printf("%.*s\n", (int)writer->buf->len, (const char *)writer->buf->data);
  fflush(stdout);
}

static struct cr_writer event(struct cr_buf *buf, const char *name) {
  struct cr_writer writer = cr_writer_open(buf);
  cr_write_text(&writer, "event", name);
  return writer;
}

// --- events -------------------------------------------------------------------------------------------------------

static void on_state(void *of, enum cr_bus_state state, const char *why) {
  static const char *const names[] = {"connecting", "connected", "waiting", "failed"};
  (void)of;
  cr_autobuf buf = CR_BUF(1 << 20);
  struct cr_writer writer = event(&buf, "state");
  cr_write_text(&writer, "state", names[state]);
  cr_write_text(&writer, "why", why);
  print(&writer);
}

static void on_conflict(void *of, const struct cr_bus_conflict *conflict) {
  (void)of;
  cr_autobuf buf = CR_BUF(1 << 20);
  struct cr_writer writer = event(&buf, "conflict");
  cr_write_text(&writer, "code", conflict->code);
  cr_write_text(&writer, "function_id", conflict->function_id);
  print(&writer);
}

static void on_refused(void *of, const char *id, const char *trigger_type, const char *code, const char *message) {
  (void)of;
  cr_autobuf buf = CR_BUF(1 << 20);
  struct cr_writer writer = event(&buf, "refused");
  cr_write_text(&writer, "id", id);
  cr_write_text(&writer, "trigger_type", trigger_type);
  cr_write_text(&writer, "code", code);
  cr_write_text(&writer, "message", message);
  print(&writer);
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  cr_autofree char *tag = of;
  cr_autobuf buf = CR_BUF(64 << 20);
  struct cr_writer writer = event(&buf, "answer");
  cr_write_text(&writer, "tag", tag);
  cr_write_json(&writer, "result", result, length);
  if (failure) {
    cr_write_text(&writer, "code", failure->code);
    cr_write_text(&writer, "message", failure->message);
    cr_write_text(&writer, "stacktrace", failure->stacktrace);
  }
  print(&writer);
}

static void reply_huge(struct cr_bus_invocation *invocation) {
  size_t length = 17 << 20;
  cr_autofree char *json = cr_alloc(length + 1);
  memset(json, 'x', length);
  json[0] = json[length - 1] = '"';
  cr_bus_reply(invocation, json, length);
}

// A function does what its mode says.
static void on_call(void *of, struct cr_bus_invocation *invocation) {
  const char *mode = of;
  if (!strcmp(mode, "echo"))
    cr_bus_reply(invocation, invocation->payload, invocation->payload_length);
  else if (!strcmp(mode, "metadata"))
    cr_bus_reply(invocation, invocation->metadata, invocation->metadata_length);
  else if (!strcmp(mode, "error"))
    cr_bus_reply_error(invocation, "own::code", "it \"failed\"");
  else if (!strcmp(mode, "none"))
    cr_bus_reply(invocation, NULL, 0);
  else if (!strcmp(mode, "huge"))
    reply_huge(invocation);
  else if (!strcmp(mode, "hugeerror"))
    cr_bus_reply_error(invocation, "own::code", invocation->payload);
  else if (held_count < 64)
    held[held_count++] = invocation;
}

static void on_bound(void *of, const struct cr_bus_binding *binding, struct cr_bus_ack *ack) {
  const char *mode = of;
  cr_autobuf buf = CR_BUF(1 << 20);
  struct cr_writer writer = event(&buf, "bound");
  cr_write_text(&writer, "id", binding->id);
  cr_write_text(&writer, "function_id", binding->function_id);
  cr_write_json(&writer, "config", binding->config, binding->config_length);
  cr_write_json(&writer, "metadata", binding->metadata, binding->metadata_length);
  cr_write_text(&writer, "namespace", binding->name_space);
  print(&writer);
  if (!strcmp(mode, "refuse"))
    cr_bus_acknowledge(ack, "trigger_registration_failed", "no");
  else if (!strcmp(mode, "later"))
    held_ack = ack;
  else
    cr_bus_acknowledge(ack, NULL, NULL);
}

static void on_unbound(void *of, const char *id, const char *trigger_type) {
  (void)of;
  cr_autobuf buf = CR_BUF(1 << 20);
  struct cr_writer writer = event(&buf, "unbound");
  cr_write_text(&writer, "id", id);
  cr_write_text(&writer, "trigger_type", trigger_type);
  print(&writer);
}

static void on_closed(void *of) {
  (void)of;
  cr_autobuf buf = CR_BUF(1 << 20);
  struct cr_writer writer = event(&buf, "closed");
  print(&writer);
  uv_close((uv_handle_t *)&input, NULL);
}

// --- commands -----------------------------------------------------------------------------------------------------

// Modes outlive what they are registered with: there are only these.
static void *mode_of(const char *word) {
  static char *const modes[] = {"echo",      "metadata", "error",  "none",   "huge",
                                "hugeerror", "hold",     "accept", "refuse", "later"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (!strcmp(word, modes[i])) return modes[i];
  return modes[0];
}

static void register_function(char **word) {
  struct cr_bus_function function = {
      .id = word[1], .description = "described", .request_format = "{\"type\":\"object\"}", .metadata = "{\"n\":1.50}"};
  cr_bus_register(bus, &function, on_call, mode_of(word[2]), NULL);
}

static void call(char **word, const char *action, const char *payload, size_t length) {
  struct cr_bus_request request = {.function_id = word[2],
                                   .payload = payload,
                                   .payload_length = length,
                                   .action = action,
                                   .timeout_ms = strtoull(word[3], NULL, 10)};
  last_call = cr_bus_call(bus, &request, on_answer, cr_strdup(word[1]));
}

static void call_big(char **word) {
  size_t length = strtoul(word[4], NULL, 10);
  cr_autofree char *json = cr_alloc(length + 1);
  memset(json, 'x', length);
  json[0] = json[length - 1] = '"';
  call(word, NULL, json, length);
}

static void bind_trigger(char **word) {
  struct cr_bus_trigger trigger = {.id = word[1], .trigger_type = word[2], .function_id = word[3], .config = word[4]};
  cr_bus_bind(bus, &trigger, NULL, NULL);
}

static void provide(char **word) {
  struct cr_bus_trigger_type type = {
      .id = word[1], .description = "described", .config_format = "{\"type\":\"object\"}"};
  struct cr_bus_provider provider = {on_bound, on_unbound};
  cr_bus_provide(bus, &type, &provider, mode_of(word[2]), NULL);
}

static void answer_held(void) {
  while (held_count) cr_bus_reply(held[--held_count], "\"held\"", 6);
}

static void run_line(char *text) {
  char *word[WORDS] = {"", "", "", "", ""}, *rest = text;
  for (int i = 0; i < WORDS && rest; i++) word[i] = i < WORDS - 1 ? strsep(&rest, " ") : rest;
  const char *name = word[0];
  if (!strcmp(name, "register")) register_function(word);
  if (!strcmp(name, "unregister")) cr_bus_unregister(bus, word[1]);
  if (!strcmp(name, "call")) call(word, NULL, word[4], strlen(word[4]));
  if (!strcmp(name, "void")) call(word, "{\"type\":\"void\"}", word[4], strlen(word[4]));
  if (!strcmp(name, "enqueue")) call(word, "{\"type\":\"enqueue\",\"queue\":\"q\"}", word[4], strlen(word[4]));
  if (!strcmp(name, "big")) call_big(word);
  if (!strcmp(name, "cancel")) cr_bus_cancel(bus, last_call);
  if (!strcmp(name, "bind")) bind_trigger(word);
  if (!strcmp(name, "unbind")) cr_bus_unbind(bus, word[1]);
  if (!strcmp(name, "provide")) provide(word);
  if (!strcmp(name, "withdraw")) cr_bus_withdraw(bus, word[1]);
  if (!strcmp(name, "acknowledge")) cr_bus_acknowledge(held_ack, NULL, NULL);
  if (!strcmp(name, "answer")) answer_held();
  if (!strcmp(name, "close")) cr_bus_close(bus, on_closed, NULL);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buf) {
  static char bytes[65536];
  (void)handle, (void)size;
  *buf = uv_buf_init(bytes, sizeof bytes);
}

static void on_input(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf) {
  if (count < 0) {
    uv_read_stop(stream);
    return;
  }
  cr_buf_append(&line, buf->base, (size_t)count);
  for (char *end; line.len && (end = memchr(line.data, '\n', line.len));) {
    size_t length = (size_t)(end - (char *)line.data);
    cr_autofree char *text = cr_strndup((char *)line.data, length);
    cr_buf_consume(&line, length + 1);
    run_line(text);
  }
}

int main(int argc, char **argv) {
  cr_log_init();
  struct cr_bus_options options = {.url = argv[1],
                                   .name = argc > 2 ? argv[2] : NULL,
                                   .name_space = argc > 3 ? argv[3] : NULL,
                                   .description = "test client"};
  struct cr_bus_events events = {on_state, on_conflict, on_refused};
  struct cr_error err = {0};
  uv_loop_init(&loop);
  bus = argc > 1 ? cr_bus_create(&loop, &options, &events, NULL, &err) : NULL;
  if (!bus) {
    fprintf(stderr, "%s\n", err.message ? err.message : "usage: testclient URL NAME [NAMESPACE]");
    cr_error_clear(&err);
    return 2;
  }
  uv_pipe_init(&loop, &input, 0);
  uv_pipe_open(&input, 0);
  uv_read_start((uv_stream_t *)&input, on_alloc, on_input);
  uv_run(&loop, UV_RUN_DEFAULT);
  answer_held();
  cr_buf_free(&line);
  return uv_loop_close(&loop) ? 1 : 0;
}
