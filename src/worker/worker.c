#include "worker/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "worker/engines.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/link.h"
#include "worker/published.h"
#include "worker/runtime.h"
#include "worker/ui.h"
#include "worker/watch.h"

#define WATCH_MS 250

static const struct {
  const char *id;
  cr_function *function;
} functions[] = {
    {"code-runner::run", cr_function_run},
    {"code-runner::teardown", cr_function_teardown},
    {"code-runner::register_function", cr_function_register},
    {"code-runner::inject-guidance", cr_function_guidance},
    {"code-runner::ui-content", cr_function_ui_content},
    {"code-runner::on-config-change", cr_function_config_change},
};

int cr_worker_owns(const char *function_id) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].id, function_id)) return 1;
  return 0;
}

const char *cr_lang_name(enum cr_lang lang) { return lang == CR_NODE ? "node" : "python"; }

struct cr_zygote *cr_worker_zygote(struct cr_worker *worker, enum cr_lang lang) { return worker->zygotes[lang]; }

static void on_zygote(void *of, struct cr_zygote *zygote) {
  struct cr_worker *worker = of;
  (void)zygote;
  if (worker->ready_said) return;
  for (int i = 0; i < CR_LANGS; i++)
    if (worker->zygotes[i] && cr_zygote_state(worker->zygotes[i]) == CR_ZYGOTE_BOOTING) return;
  worker->ready_said = 1;
  worker->ready(worker->ready_of, worker);
}

void cr_worker_settings_changed(struct cr_worker *worker) {
  for (struct cr_list *at = worker->all.next; at != &worker->all; at = at->next)
    cr_runtime_send_settings(cr_list_item(at, struct cr_runtime, link));
}

static int swept(const struct cr_runtime *runtime, uint64_t now) {
  if (runtime->life == CR_ONE_SHOT || cr_runtime_busy(runtime) || runtime->gone) return 0;
  if (runtime->life == CR_NAMESPACE && runtime->lang == CR_PYTHON) return 0;
  return now - runtime->last_activity >= runtime->worker->config.idle_ttl_secs * 1000;
}

static void on_sweep(uv_timer_t *timer) {
  struct cr_worker *worker = timer->data;
  uint64_t now = uv_now(worker->loop);
  for (struct cr_list *at = worker->all.next, *next; at != &worker->all; at = next) {
    next = at->next;
    struct cr_runtime *runtime = cr_list_item(at, struct cr_runtime, link);
    if (swept(runtime, now)) cr_runtime_expire(runtime);
  }
}

static void on_watch(uv_timer_t *timer) {
  struct cr_worker *worker = timer->data;
  uint64_t now = uv_now(worker->loop);
  int background = ++worker->watches % (1000 / WATCH_MS) == 0;
  for (struct cr_list *at = worker->all.next, *next; at != &worker->all; at = next) {
    next = at->next;
    struct cr_runtime *runtime = cr_list_item(at, struct cr_runtime, link);
    cr_watch_disk(runtime);
    if (background && runtime->worker) cr_watch_background(runtime, now);
  }
}

static void start_sweep(struct cr_worker *worker) {
  uint64_t seconds = worker->config.idle_ttl_secs;
  uint64_t period = (seconds < 1 ? 1 : seconds > 60 ? 60 : seconds) * 1000;
  uv_timer_init(worker->loop, &worker->sweep);
  worker->sweep.data = worker;
  uv_timer_start(&worker->sweep, on_sweep, period, period);
  uv_timer_init(worker->loop, &worker->watch);
  worker->watch.data = worker;
  uv_timer_start(&worker->watch, on_watch, WATCH_MS, WATCH_MS);
}

struct cr_worker *cr_worker_create(uv_loop_t *loop, const struct cr_worker_settings *settings, cr_worker_ready *ready,
                                   void *of) {
  struct cr_worker *worker = cr_alloc(sizeof *worker);
  worker->loop = loop;
  worker->config = settings->config;
  worker->ready = ready;
  worker->ready_of = of;
  cr_list_init(&worker->all);
  // Inits of former zygotes end when their last runtime does; nobody waits for them.
  signal(SIGCHLD, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  worker->init = cr_format("%s/cr-init", settings->libexec);
  for (int i = 0; i < CR_LANGS; i++) {
    if (!settings->langs[i]) continue;
    struct cr_zygote_settings zygote = cr_engine_settings((enum cr_lang)i, settings, worker->init);
    worker->arguments[i] = zygote.arguments;
    worker->zygotes[i] = cr_zygote_create(loop, &zygote, on_zygote, worker);
  }
  start_sweep(worker);
  worker->holds = 2;  // the two timers
  return worker;
}

void cr_worker_listen(struct cr_worker *worker, cr_worker_listener *listener, void *of) {
  worker->listener = listener;
  worker->listener_of = of;
}

static void reply_failed(cr_reply *reply, void *of, struct cr_error *err) {
  reply(of, NULL, 0, err);
  cr_error_clear(err);
}

void cr_worker_call(struct cr_worker *worker, const char *function_id, const char *payload, size_t length,
                    cr_reply *reply, void *of) {
  struct cr_error err = {0};
  cr_function *function = NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].id, function_id)) function = functions[i].function;
  struct cr_published *published = function ? NULL : cr_published_find(worker, function_id);
  if (published && published->live) {
    cr_published_call(published, payload, length, reply, of);
    return;
  }
  if (!function) {
    cr_error_set(&err, "function_not_found", "Function %.128s not found", function_id);
    reply_failed(reply, of, &err);
    return;
  }
  yyjson_doc *doc = cr_json_parse(payload, length, &err);
  if (!doc) {
    reply_failed(reply, of, &err);
    return;
  }
  function(worker, yyjson_doc_get_root(doc), reply, of);
  yyjson_doc_free(doc);
}

void cr_worker_hold(struct cr_worker *worker) { worker->holds++; }

void cr_worker_unhold(struct cr_worker *worker) {
  if (--worker->holds == 0) free(worker);
}

static void on_closed(uv_handle_t *handle) { cr_worker_unhold(handle->data); }

void cr_worker_free(struct cr_worker *worker) {
  while (!cr_list_empty(&worker->all))
    cr_runtime_destroy(cr_list_item(worker->all.next, struct cr_runtime, link), CR_ENGINE, "the worker is ending");
  for (int i = 0; i < CR_LANGS; i++) {
    if (!worker->zygotes[i]) continue;
    cr_zygote_free(worker->zygotes[i]);
    cr_engine_arguments_free(worker->arguments[i]);
  }
  cr_ui_free(worker->ui);
  free(worker->init);
  cr_tombstones_free(&worker->tombstones);
  cr_config_free(&worker->config);
  uv_close((uv_handle_t *)&worker->sweep, on_closed);
  uv_close((uv_handle_t *)&worker->watch, on_closed);
}
