// Messages to the worker's client: each line of the input is one, without sockets. A line '!' is a lost connection.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/log.h"
#include "bus/client_internal.h"

static int on_send(void *of, const void *text, size_t length) {
  (void)of;
  struct cr_msg msg;
  const char *why;
  if (cr_msg_decode(&msg, text, length, &why)) abort();
  cr_msg_free(&msg);
  return 0;
}

static void on_call(void *of, struct cr_bus_invocation *invocation) {
  (void)of;
  if (invocation->payload_length % 2)
    cr_bus_reply(invocation, invocation->payload, invocation->payload_length);
  else
    cr_bus_reply_error(invocation, "code", invocation->payload);
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  (void)result, (void)length, (void)failure;
  ++*(int *)of;
}

static void on_bound(void *of, const struct cr_bus_binding *binding, struct cr_bus_ack *ack) {
  (void)of;
  cr_bus_acknowledge(ack, binding->config_length % 2 ? "code" : NULL, "message");
}

static void on_unbound(void *of, const char *id, const char *trigger_type) { (void)of, (void)id, (void)trigger_type; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uv_loop_t loop;
  int answers = 0, calls = 0;
  setenv("CODE_RUNNER_LOG", "error", 1);
  cr_log_init();
  uv_loop_init(&loop);
  struct cr_bus_options options = {.name = "fuzz"};
  struct cr_bus_link link = {.send = on_send};
  struct cr_bus *bus = cr_bus_create_detached(&loop, &options, NULL, NULL, &link);
  struct cr_bus_provider provider = {on_bound, on_unbound};
  cr_bus_register(bus, &(struct cr_bus_function){.id = "f"}, on_call, NULL, NULL);
  cr_bus_provide(bus, &(struct cr_bus_trigger_type){.id = "t"}, &provider, NULL, NULL);
  cr_bus_opened(bus);
  for (const uint8_t *at = data, *end = data + size; at < end;) {
    const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    if (length == 1 && *at == '!') {
      cr_bus_lost(bus, "fuzz");
      cr_bus_opened(bus);
    } else if (length == 1 && *at == '?') {
      struct cr_bus_request request = {.function_id = "x", .payload = "1", .payload_length = 1, .timeout_ms = 1000};
      cr_bus_call(bus, &request, on_answer, &answers);
      calls++;
    } else {
      cr_bus_take(bus, (const char *)at, length);
    }
    uv_run(&loop, UV_RUN_NOWAIT);
    at += length + 1;
  }
  cr_bus_calls_fail(bus, 1, CR_BUS_STOPPED, "end");
  for (int turns = 0; bus->calls && turns < 100; turns++) uv_run(&loop, UV_RUN_NOWAIT);
  if (answers != calls) abort();
  cr_bus_destroy(bus);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) abort();
  return 0;
}
