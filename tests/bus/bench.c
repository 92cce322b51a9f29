// What a call over the bus costs: engine, a serving client and a calling client in one process on one loop, over
// loopback, as with `serve --embedded`; with an address as argument, an engine elsewhere. Prints figures, judges
// nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/mem.h"
#include "bus/client.h"
#include "bus/engine.h"

#define CALLS 50000

static uv_loop_t loop;
static struct cr_bus *server, *caller;
static struct cr_engine *engine;
static double started[CALLS], took[CALLS];
static int next_call, answered, in_flight_most = 1;

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void on_call(void *of, struct cr_bus_invocation *invocation) {
  (void)of;
  cr_bus_reply(invocation, invocation->payload, invocation->payload_length);
}

static int ascending(const void *a, const void *b) {
  double one = *(const double *)a, two = *(const double *)b;
  return (one > two) - (one < two);
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure);

static void call(void) {
  static const char payload[] = "{\"a\":1,\"b\":[1,2,3],\"text\":\"some text\"}";
  struct cr_bus_request request = {
      .function_id = "bench::echo", .payload = payload, .payload_length = sizeof payload - 1};
  started[next_call] = now_us();
  cr_bus_call(caller, &request, on_answer, &started[next_call++]);
}

static void run(int in_flight) {
  next_call = answered = 0;
  in_flight_most = in_flight;
  for (int i = 0; i < in_flight; i++) call();
}

static void report(double total) {
  qsort(took, CALLS, sizeof *took, ascending);
  printf("%3d in flight: p50 %.1f us, p99 %.1f us, %.0f calls/s\n", in_flight_most, took[CALLS / 2],
         took[CALLS / 100 * 99], CALLS / total * 1e6);
}

static void on_server_closed(void *of) {
  (void)of;
  if (engine) cr_engine_stop(engine, NULL, NULL);
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  (void)result, (void)length;
  double *start = of;
  if (failure) {
    fprintf(stderr, "%s: %s\n", failure->code, failure->message);
    exit(1);
  }
  took[start - started] = now_us() - *start;
  if (next_call < CALLS) call();
  if (++answered < CALLS) return;
  report(now_us() - started[0]);
  if (in_flight_most == 1) {
    run(32);
    return;
  }
  cr_bus_close(caller, NULL, NULL);
  cr_bus_close(server, on_server_closed, NULL);
}

static void on_state(void *of, enum cr_bus_state state, const char *why) {
  (void)of, (void)why;
  // The second connection comes after the first has registered.
  if (state == CR_BUS_CONNECTED) run(1);
}

int main(int argc, char **argv) {
  struct cr_error err = {0};
  setenv("CODE_RUNNER_LOG", "error", 0);
  cr_log_init();
  uv_loop_init(&loop);
  struct cr_engine_options options = {.config_dir = "/dev/null/none"};
  if (argc < 2 && !(engine = cr_engine_start(&loop, &options, &err))) {
    fprintf(stderr, "%s\n", err.message);
    return 1;
  }
  const char *url = argc > 1 ? argv[1] : cr_engine_url(engine);
  server = cr_bus_create(&loop, &(struct cr_bus_options){.url = url, .name = "bench-server"}, NULL, NULL, NULL);
  cr_bus_register(server, &(struct cr_bus_function){.id = "bench::echo"}, on_call, NULL, NULL);
  while (cr_bus_state(server) != CR_BUS_CONNECTED) uv_run(&loop, UV_RUN_ONCE);
  struct cr_bus_events events = {.state = on_state};
  caller = cr_bus_create(&loop, &(struct cr_bus_options){.url = url, .name = "bench-caller"}, &events, NULL, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  return uv_loop_close(&loop) ? 1 : 0;
}
