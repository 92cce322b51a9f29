// The client without sockets: what goes out for what comes in, and memory that runs out.
#include "unit.h"

#include <uv.h>

#include "base/log.h"
#include "bus/client_internal.h"

struct scene {
  uv_loop_t loop;
  struct cr_bus *bus;
  struct cr_buf sent;  // frames, a line each
  int answers;
  char code[64];
};

static int on_send(void *of, const void *text, size_t length) {
  struct scene *scene = of;
  cr_buf_append(&scene->sent, text, length);
  cr_buf_append(&scene->sent, "\n", 2);
  scene->sent.len--;
  return 0;
}

static void start(struct scene *scene) {
  setenv("CODE_RUNNER_LOG", "error", 1);
  cr_log_init();
  memset(scene, 0, sizeof *scene);
  scene->sent = CR_BUF(1 << 20);
  uv_loop_init(&scene->loop);
  struct cr_bus_options options = {.name = "unit"};
  struct cr_bus_link link = {.send = on_send, .of = scene};
  scene->bus = cr_bus_create_detached(&scene->loop, &options, NULL, NULL, &link);
}

static void stop(struct scene *scene) {
  cr_bus_calls_fail(scene->bus, 1, CR_BUS_STOPPED, "end");
  for (int i = 0; scene->bus->calls && i < 100; i++) uv_run(&scene->loop, UV_RUN_NOWAIT);
  cr_bus_destroy(scene->bus);
  uv_run(&scene->loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&scene->loop), 0);
  cr_buf_free(&scene->sent);
}

static void take(struct scene *scene, const char *text) { cr_bus_take(scene->bus, text, strlen(text)); }

static int sent(const struct scene *scene, const char *part) {
  return scene->sent.len && memmem(scene->sent.data, scene->sent.len, part, strlen(part)) != NULL;
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  struct scene *scene = of;
  (void)result, (void)length;
  scene->answers++;
  if (failure) snprintf(scene->code, sizeof scene->code, "%s", failure->code);
}

static struct cr_bus_invocation *kept;
static void on_call(void *of, struct cr_bus_invocation *invocation) {
  (void)of;
  kept = invocation;
}

static const struct cr_bus_request request = {.function_id = "x", .payload = "1", .payload_length = 1};

static void nothing_is_sent_before_the_connection_opens(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  cr_bus_register(scene.bus, &(struct cr_bus_function){.id = "f"}, on_call, NULL, NULL);
  cr_bus_call(scene.bus, &request, on_answer, &scene);
  assert_int_equal(scene.sent.len, 0);
  cr_bus_opened(scene.bus);
  assert_true(sent(&scene, "\"id\":\"f\""));
  assert_true(sent(&scene, "\"function_id\":\"x\",\"data\":1"));
  stop(&scene);
  assert_int_equal(scene.answers, 1);
}

static void an_invocation_of_a_lost_connection_is_answered_to_nobody(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  cr_bus_register(scene.bus, &(struct cr_bus_function){.id = "f"}, on_call, NULL, NULL);
  cr_bus_opened(scene.bus);
  take(&scene,
       "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319c\",\"function_id\":\"f\","
       "\"data\":[1]}");
  assert_string_equal(kept->payload, "[1]");
  cr_bus_lost(scene.bus, "test");
  cr_bus_opened(scene.bus);
  scene.sent.len = 0;
  cr_bus_reply(kept, "1", 1);
  assert_int_equal(scene.sent.len, 0);
  stop(&scene);
}

static void an_invocation_may_be_answered_after_the_client_is_gone(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  cr_bus_register(scene.bus, &(struct cr_bus_function){.id = "f"}, on_call, NULL, NULL);
  cr_bus_opened(scene.bus);
  take(&scene, "{\"type\":\"invokefunction\",\"function_id\":\"f\",\"data\":1}");
  stop(&scene);
  cr_bus_reply_error(kept, "code", "message");
}

static void what_is_under_way_fails_with_the_connection_and_what_waits_does_not(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  cr_bus_opened(scene.bus);
  cr_bus_call(scene.bus, &request, on_answer, &scene);
  cr_bus_lost(scene.bus, "test");
  cr_bus_call(scene.bus, &request, on_answer, &scene);
  for (int i = 0; i < 3; i++) uv_run(&scene.loop, UV_RUN_NOWAIT);
  assert_int_equal(scene.answers, 1);
  assert_string_equal(scene.code, CR_BUS_STOPPED);
  stop(&scene);
  assert_int_equal(scene.answers, 2);
}

static void a_cancelled_call_is_not_answered(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  uint64_t number = cr_bus_call(scene.bus, &request, on_answer, &scene);
  cr_bus_cancel(scene.bus, number);
  cr_bus_cancel(scene.bus, number);
  cr_bus_opened(scene.bus);
  assert_false(sent(&scene, "\"function_id\":\"x\""));
  stop(&scene);
  assert_int_equal(scene.answers, 0);
}

static void memory_that_runs_out_becomes_errors(void **state) {
  (void)state;
  for (unsigned long after = 1; after < 30; after++) {
    struct scene scene;
    start(&scene);
    kept = NULL;
    cr_fail_allocations(after);
    cr_bus_register(scene.bus, &(struct cr_bus_function){.id = "f"}, on_call, NULL, NULL);
    cr_bus_bind(scene.bus, &(struct cr_bus_trigger){.trigger_type = "t", .function_id = "f"}, NULL, NULL);
    cr_bus_opened(scene.bus);
    cr_bus_call(scene.bus, &request, on_answer, &scene);
    take(&scene,
         "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319c\",\"function_id\":"
         "\"f\",\"data\":1}");
    if (kept) cr_bus_reply(kept, "1", 1);
    cr_fail_allocations(0);
    stop(&scene);
    assert_int_equal(scene.answers, 1);
  }
}

UNIT_MAIN(T(nothing_is_sent_before_the_connection_opens), T(an_invocation_of_a_lost_connection_is_answered_to_nobody),
          T(an_invocation_may_be_answered_after_the_client_is_gone),
          T(what_is_under_way_fails_with_the_connection_and_what_waits_does_not), T(a_cancelled_call_is_not_answered),
          T(memory_that_runs_out_becomes_errors))
