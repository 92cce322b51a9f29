// The engine's core without sockets: back-pressure, bounds, and memory that runs out.
#include "unit.h"

#include <uv.h>

#include "base/log.h"
#include "bus/engine/internal.h"

struct end {
  struct peer *peer;
  int choked, paused, ended, sent;
  char last[4096];
};

static int on_send(void *of, const void *text, size_t length) {
  struct end *end = of;
  end->sent++;
  memcpy(end->last, text, length < sizeof end->last - 1 ? length : sizeof end->last - 1);
  end->last[length < sizeof end->last - 1 ? length : sizeof end->last - 1] = 0;
  return 0;
}

static int on_choked(void *of) { return ((struct end *)of)->choked; }
static void on_pause(void *of) { ((struct end *)of)->paused = 1; }
static void on_resume(void *of) { ((struct end *)of)->paused = 0; }

static void on_end(void *of, int abruptly) {
  (void)abruptly;
  ((struct end *)of)->ended = 1;
}

static const struct peer_io io = {on_send, on_choked, on_pause, on_resume, on_end};

struct scene {
  uv_loop_t loop;
  struct cr_engine *engine;
  struct end ends[3];
};

static void take(struct scene *scene, int who, const char *text) {
  cr_peer_take(scene->ends[who].peer, text, strlen(text));
}

static void turn(struct scene *scene) {
  for (int i = 0; i < 4; i++) uv_run(&scene->loop, UV_RUN_NOWAIT);
}

static void start(struct scene *scene) {
  setenv("CODE_RUNNER_LOG", "error", 1);
  cr_log_init();
  memset(scene, 0, sizeof *scene);
  uv_loop_init(&scene->loop);
  struct cr_engine_options options = {.config_dir = "/dev/null/none"};
  scene->engine = cr_engine_create(&scene->loop, &options, NULL);
  for (int i = 0; i < 3; i++) {
    scene->ends[i].peer = cr_peer_create(scene->engine, &io, &scene->ends[i], "");
    take(scene, i,
         "{\"type\":\"invokefunction\",\"function_id\":\"engine::workers::register\",\"data\":{},\"action\":{\"type\":"
         "\"void\"}}");
  }
}

static void drop(struct scene *scene, int who) {
  cr_peer_gone(scene->ends[who].peer);
  scene->ends[who].peer = NULL;
}

static void stop(struct scene *scene) {
  scene->engine->stopping = 1;
  for (int i = 0; i < 3; i++)
    if (scene->ends[i].peer) drop(scene, i);
  cr_engine_free(scene->engine);
  uv_run(&scene->loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&scene->loop), 0);
}

#define VOID_CALL "{\"type\":\"invokefunction\",\"function_id\":\"a::f\",\"data\":1,\"action\":{\"type\":\"void\"}}"

static void a_source_is_held_back_until_its_target_drains(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  take(&scene, 0, "{\"type\":\"registerfunction\",\"id\":\"a::f\"}");
  scene.ends[0].choked = 1;
  take(&scene, 1, VOID_CALL);
  assert_int_equal(scene.ends[1].paused, 1);
  assert_int_equal(scene.ends[2].paused, 0);
  scene.ends[0].choked = 0;
  cr_peer_drained(scene.ends[0].peer);
  assert_int_equal(scene.ends[1].paused, 0);
  stop(&scene);
}

static void a_target_that_goes_lets_its_sources_go_on(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  take(&scene, 0, "{\"type\":\"registerfunction\",\"id\":\"a::f\"}");
  scene.ends[0].choked = 1;
  take(&scene, 1, VOID_CALL);
  take(&scene, 2, VOID_CALL);
  drop(&scene, 2);
  drop(&scene, 0);
  assert_int_equal(scene.ends[1].paused, 0);
  stop(&scene);
}

static void publish_cannot_pretend_to_be_a_worker(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  take(&scene, 0,
       "{\"type\":\"registertrigger\",\"id\":\"t\",\"trigger_type\":\"subscribe\",\"function_id\":"
       "\"engine::workers::register\",\"config\":{\"topic\":\"x\"}}");
  char text[512];
  snprintf(text, sizeof text,
           "{\"type\":\"invokefunction\",\"function_id\":\"publish\",\"data\":{\"topic\":\"x\",\"data\":{\"name\":"
           "\"stolen\",\"_caller_worker_id\":\"%s\"}}}",
           scene.ends[1].peer->id);
  take(&scene, 0, text);
  turn(&scene);
  assert_null(scene.ends[1].peer->name);
  stop(&scene);
}

static void a_binding_to_the_function_form_outlives_the_engine_without_harm(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  take(&scene, 0, "{\"type\":\"registertriggertype\",\"id\":\"tt\",\"description\":\"\"}");
  take(&scene, 0,
       "{\"type\":\"registertrigger\",\"id\":\"t\",\"trigger_type\":\"subscribe\",\"function_id\":"
       "\"engine::register_trigger\",\"config\":{\"topic\":\"x\"}}");
  take(&scene, 1,
       "{\"type\":\"invokefunction\",\"function_id\":\"publish\",\"data\":{\"topic\":\"x\",\"data\":{\"trigger_type\":"
       "\"tt\",\"function_id\":\"f\"}}}");
  turn(&scene);
  assert_non_null(strstr(scene.ends[0].last, "registertrigger"));
  stop(&scene);
}

static void memory_that_runs_out_is_survived(void **state) {
  (void)state;
  static const char *const lines[] = {
      "{\"type\":\"registerfunction\",\"id\":\"a::f\",\"description\":\"d\"}",
      "{\"type\":\"registertriggertype\",\"id\":\"tt\",\"description\":\"\"}",
      "{\"type\":\"registertrigger\",\"id\":\"t\",\"trigger_type\":\"tt\",\"function_id\":\"a::f\",\"config\":{}}",
      "{\"type\":\"registertrigger\",\"id\":\"s\",\"trigger_type\":\"state\",\"function_id\":\"a::f\",\"config\":{}}",
      "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319c\",\"function_id\":\"a::"
      "f\",\"data\":{\"a\":1}}",
      "{\"type\":\"invocationresult\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319c\",\"function_id\":\"a::"
      "f\",\"result\":1}",
      "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319d\",\"function_id\":\"state:"
      ":set\",\"data\":{\"scope\":\"a\",\"key\":\"b\",\"value\":1}}",
      "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319d\",\"function_id\":"
      "\"engine::functions::list\",\"data\":{}}",
      "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319d\",\"function_id\":"
      "\"nope\",\"data\":{}}",
      "{\"type\":\"invokefunction\",\"invocation_id\":\"0af7651e-16cd-43dd-8448-eb211c80319d\",\"function_id\":"
      "\"configuration::register\",\"data\":{\"id\":\"a\",\"name\":\"\",\"description\":\"\",\"schema\":{},\"initial_"
      "value\":1}}",
      "{\"type\":\"unregistertrigger\",\"id\":\"t\"}",
  };
  for (unsigned long after = 1; after < 40; after++) {
    struct scene scene;
    start(&scene);
    cr_fail_allocations(after);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
      take(&scene, 0, lines[i]);
      turn(&scene);
    }
    cr_fail_allocations(0);
    take(&scene, 0, "{\"type\":\"ping\"}");
    assert_string_equal(scene.ends[0].last, "{\"type\":\"pong\"}");
    stop(&scene);
  }
}

UNIT_MAIN(T(a_source_is_held_back_until_its_target_drains), T(a_target_that_goes_lets_its_sources_go_on),
          T(publish_cannot_pretend_to_be_a_worker), T(a_binding_to_the_function_form_outlives_the_engine_without_harm),
          T(memory_that_runs_out_is_survived))
