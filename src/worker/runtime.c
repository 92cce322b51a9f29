#include "worker/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "worker/bindings.h"
#include "worker/calls.h"
#include "worker/death.h"
#include "worker/internal.h"
#include "worker/memory.h"
#include "worker/namespaces.h"
#include "worker/published.h"
#include "worker/watch.h"

#define BACKGROUND_MAX (256u << 10)
#define FRAME_BUFFER_MAX (2ul * CR_FRAME_MAX)

static void pump(struct cr_runtime *runtime);
static void retire_when_idle(struct cr_runtime *runtime);
static const struct cr_instance_events instance_events;

static struct cr_turn *turn_at(struct cr_list *link) { return cr_list_item(link, struct cr_turn, link); }

struct cr_turn *cr_turn_create(struct cr_runtime *runtime, enum cr_frame_type kind, uint64_t budget_ms) {
  struct cr_turn *turn = cr_alloc(sizeof *turn);
  turn->runtime = runtime;
  turn->kind = kind;
  turn->budget_ms = budget_ms;
  turn->frame = CR_BUF(FRAME_BUFFER_MAX);
  cr_list_init(&turn->link);
  uv_timer_init(runtime->worker->loop, &turn->deadline);
  turn->deadline.data = turn;
  return turn;
}

static void on_turn_closed(uv_handle_t *handle) { free(handle->data); }

// Answers it and frees it. The callback may destroy the runtime.
static void finish(struct cr_turn *turn, struct cr_outcome *outcome) {
  cr_list_remove(&turn->link);
  cr_buf_free(&turn->frame);
  uv_close((uv_handle_t *)&turn->deadline, on_turn_closed);
  for (int i = 0; i < 2; i++)
    if (turn->streams[i]) cr_capture_finish(turn->streams[i]);
  turn->finished(turn->of, outcome);
  cr_error_clear(&outcome->error);
}

static void fail(struct cr_turn *turn, const char *code, const char *text, int gone) {
  struct cr_outcome outcome = {.runtime_gone = gone};
  cr_error_set(&outcome.error, code, "%s", text);
  finish(turn, &outcome);
}

static void send_setup(struct cr_runtime *runtime) {
  const struct cr_config *config = &runtime->worker->config;
  struct cr_frame_writer writer = cr_frame_begin(cr_instance_outgoing(runtime->instance), CR_FRAME_SETUP, 0, 0);
  cr_frame_text(&writer, runtime->prefix);
  cr_frame_number(&writer, (int64_t)config->default_timeout_ms);
  cr_frame_number(&writer, (int64_t)config->max_timeout_ms);
  cr_frame_number(&writer, (int64_t)(config->scratch_mb << 20));
  cr_frame_number(&writer, (int64_t)config->scratch_files);
  (void)cr_frame_end(&writer);
}

void cr_runtime_send_settings(struct cr_runtime *runtime) {
  if (!runtime->instance) return;
  const struct cr_config *config = &runtime->worker->config;
  struct cr_frame_writer writer = cr_frame_begin(cr_instance_outgoing(runtime->instance), CR_FRAME_SETTINGS, 0, 0);
  cr_frame_number(&writer, (int64_t)config->default_timeout_ms);
  cr_frame_number(&writer, (int64_t)config->max_timeout_ms);
  if (!cr_frame_end(&writer)) cr_instance_flush(runtime->instance);
}

static char *prefix_of(enum cr_lang lang, const char *name, const char *id) {
  if (name) return cr_strdup(name);
  return lang == CR_NODE ? cr_format("code-runner::%s::", id) : cr_strdup("");
}

static void attach(struct cr_runtime *runtime, struct cr_instance *instance) {
  runtime->instance = instance;
  runtime->live = 0;
  cr_instance_bind(instance, &instance_events, runtime);
  send_setup(runtime);
}

static void ensure_instance(struct cr_runtime *runtime) {
  uint64_t bytes = runtime->memory_mb ? cr_memory_python(runtime->memory_mb) : 0;
  struct cr_scratch *scratch = runtime->scratch.fd >= 0 ? &runtime->scratch : NULL;
  attach(runtime, cr_zygote_fork(runtime->worker->zygotes[runtime->lang], bytes, scratch));
}

struct cr_runtime *cr_runtime_create(struct cr_worker *worker, enum cr_lang lang, enum cr_life life, const char *name,
                                     uint64_t memory_mb, struct cr_error *err) {
  struct cr_zygote *zygote = worker->zygotes[lang];
  if (!zygote || cr_zygote_state(zygote) == CR_ZYGOTE_BROKEN) {
    cr_error_set(err, CR_ENGINE, "%s engine failed to start%s%s", cr_lang_name(lang), zygote ? ": " : "",
                 zygote ? cr_zygote_failure(zygote) : "");
    return NULL;
  }
  if (worker->slots_used >= worker->config.max_runtimes) {
    cr_error_set(err, CR_CAPACITY, "all %llu runtime slots are in use; try again when one is free",
                 (unsigned long long)worker->config.max_runtimes);
    return NULL;
  }
  worker->slots_used++;
  struct cr_runtime *runtime = cr_alloc(sizeof *runtime);
  *runtime = (struct cr_runtime){.worker = worker,
                                 .lang = lang,
                                 .life = life,
                                 .scratch = CR_NO_SCRATCH,
                                 .memory_mb = memory_mb,
                                 .last_activity = uv_now(worker->loop)};
  memcpy(runtime->id, "rt-", 3);
  cr_uuid(runtime->id + 3);
  runtime->prefix = prefix_of(lang, name, runtime->id);
  cr_list_init(&runtime->turns);
  cr_list_init(&runtime->published);
  cr_list_init(&runtime->calls);
  cr_list_append(&worker->all, &runtime->link);
  if (life == CR_KEPT) {
    HASH_ADD_STR(worker->runtimes, id, runtime);
    runtime->named = 1;
  }
  if (memory_mb)
    ensure_instance(runtime);
  else
    attach(runtime, cr_zygote_take(zygote));
  return runtime;
}

struct cr_runtime *cr_runtime_find(struct cr_worker *worker, const char *id, struct cr_error *err) {
  struct cr_runtime *runtime;
  HASH_FIND_STR(worker->runtimes, id, runtime);
  if (runtime) return runtime;
  if (cr_tombstones_has(&worker->tombstones, id))
    cr_error_set(err, CR_EXPIRED,
                 "runtime_id %.64s has ended (idle, or killed over a limit): call run again without it; the new "
                 "runtime's directory starts empty",
                 id);
  else
    cr_error_set(err, CR_RUNTIME_NOT_FOUND, "unknown runtime_id %.64s", id);
  return NULL;
}

int cr_runtime_busy(const struct cr_runtime *runtime) { return !cr_list_empty(&runtime->turns); }

// A python interpreter, and a run in node, have the runtime to themselves.
static int may_start(const struct cr_runtime *runtime, const struct cr_turn *turn) {
  for (struct cr_list *at = runtime->turns.next; at != &runtime->turns; at = at->next) {
    const struct cr_turn *other = turn_at(at);
    if (other->running && (runtime->lang == CR_PYTHON || (other->kind == CR_FRAME_RUN && turn->kind == CR_FRAME_RUN)))
      return 0;
  }
  return 1;
}

static void forget_name(struct cr_runtime *runtime) {
  if (!runtime->named) return;
  runtime->named = 0;
  HASH_DEL(runtime->worker->runtimes, runtime);
}

// The process goes, its files stay for the next one (python), or everything goes (node).
static void lose_instance(struct cr_runtime *runtime) {
  if (runtime->lang == CR_PYTHON) runtime->scratch = cr_instance_take_scratch(runtime->instance);
  cr_calls_drop(runtime);
  cr_instance_free(runtime->instance);
  runtime->instance = NULL;
}

// After the process has ended: the turn `guilty` (or all that run) gets `outcome`'s like, then the rest its due.
static void after_death(struct cr_runtime *runtime, enum cr_cause cause, int status, struct cr_turn *guilty) {
  int survives = runtime->lang == CR_PYTHON;
  lose_instance(runtime);
  struct cr_list ending;
  cr_list_init(&ending);
  for (struct cr_list *at = runtime->turns.next, *next; at != &runtime->turns; at = next) {
    next = at->next;
    if (!turn_at(at)->running) continue;
    cr_list_remove(at);
    cr_list_append(&ending, at);
  }
  if (!survives && runtime->life != CR_ONE_SHOT) forget_name(runtime);
  while (!cr_list_empty(&ending)) {
    struct cr_turn *turn = turn_at(ending.next);
    struct cr_outcome outcome = {.runtime_gone = !survives};
    char text[160];
    cr_autofree char *disk = cause == CR_CAUSE_DISK ? cr_runtime_disk_text(runtime) : NULL;
    snprintf(text, sizeof text, "%s", disk ? disk : "");
    int others = guilty && turn != guilty && cause == CR_CAUSE_CRASH;
    cr_death_outcome(runtime->lang, others ? CR_CAUSE_KILLED : cause, status, &outcome, text, sizeof text);
    finish(turn, &outcome);
  }
  if (!runtime->worker) return;
  if (survives)
    pump(runtime);
  else if (!runtime->gone)
    cr_runtime_expire(runtime);
  retire_when_idle(runtime);
}

static void on_deadline(uv_timer_t *timer) {
  struct cr_turn *turn = timer->data;
  struct cr_runtime *runtime = turn->runtime;
  cr_instance_drain(runtime->instance);
  after_death(runtime, CR_CAUSE_DEADLINE, 0, turn);
}

char *cr_runtime_disk_text(const struct cr_runtime *runtime) {
  const struct cr_config *config = &runtime->worker->config;
  int node = runtime->lang == CR_NODE;
  unsigned long long bytes = node ? config->scratch_mb << 20 : CR_PYTHON_SCRATCH_BYTES;
  unsigned long long files = node ? config->scratch_files : CR_PYTHON_SCRATCH_ENTRIES;
  return cr_format("/work is over its budget of %llu bytes and %llu files", bytes, files);
}

void cr_runtime_over_disk(struct cr_runtime *runtime) { after_death(runtime, CR_CAUSE_DISK, 0, NULL); }

static void start_deadline(struct cr_turn *turn) {
  uv_update_time(turn->runtime->worker->loop);
  uv_timer_start(&turn->deadline, on_deadline, turn->budget_ms, 0);
}

static void start_turn(struct cr_runtime *runtime, struct cr_turn *turn) {
  turn->running = 1;
  turn->id = ++runtime->next_turn;
  if (turn->kind == CR_FRAME_RUN) runtime->background = 0;
  cr_frame_set_id(turn->frame.data, turn->id);
  struct cr_buf *out = cr_instance_outgoing(runtime->instance);
  if (cr_buf_append(out, turn->frame.data, turn->frame.len)) {
    fail(turn, CR_ENGINE, "the runtime does not read what it is sent", 0);
    return;
  }
  cr_buf_free(&turn->frame);
  if (runtime->live) {
    start_deadline(turn);
    cr_instance_flush(runtime->instance);
  }
}

// A python runtime that lost its interpreter gets another, which has to learn the published functions first.
static void ensure_ready(struct cr_runtime *runtime) {
  if (runtime->instance || cr_list_empty(&runtime->turns)) return;
  ensure_instance(runtime);
  if (runtime->life == CR_NAMESPACE) cr_published_replay(runtime);
}

static void pump(struct cr_runtime *runtime) {
  ensure_ready(runtime);
  for (struct cr_list *at = runtime->turns.next, *next; at != &runtime->turns; at = next) {
    next = at->next;
    struct cr_turn *turn = turn_at(at);
    if (!turn->running && may_start(runtime, turn)) start_turn(runtime, turn);
    if (runtime->lang == CR_PYTHON) return;
  }
}

void cr_runtime_submit(struct cr_turn *turn) {
  struct cr_runtime *runtime = turn->runtime;
  runtime->last_activity = uv_now(runtime->worker->loop);
  cr_list_append(&runtime->turns, &turn->link);
  pump(runtime);
}

void cr_runtime_submit_first(struct cr_turn *turn) {
  struct cr_list *first = turn->runtime->turns.next;
  cr_list_append(first, &turn->link);
}

void cr_turn_refuse(struct cr_turn *turn, const char *code, const char *text) { fail(turn, code, text, 0); }

struct cr_turn *cr_turn_define(struct cr_runtime *runtime, const char *id, const char *source, size_t length) {
  uint64_t budget = cr_config_budget(&runtime->worker->config, 0);
  struct cr_turn *turn = cr_turn_create(runtime, CR_FRAME_DEFINE, budget);
  struct cr_frame_writer writer = cr_frame_begin(&turn->frame, CR_FRAME_DEFINE, 0, 0);
  cr_frame_text(&writer, id);
  cr_frame_bytes(&writer, source, length);
  cr_frame_number(&writer, (int64_t)budget);
  if (cr_frame_end(&writer)) cr_out_of_memory();
  return turn;
}

static struct cr_turn *running_turn(struct cr_runtime *runtime, uint32_t id) {
  for (struct cr_list *at = runtime->turns.next; at != &runtime->turns; at = at->next)
    if (turn_at(at)->running && turn_at(at)->id == id) return turn_at(at);
  return NULL;
}

static int read_outcome(const struct cr_frame *frame, struct cr_outcome *outcome) {
  struct cr_fields fields = cr_frame_fields(frame);
  int64_t exit_code, kind;
  if (cr_fields_number(&fields, &exit_code) || cr_fields_number(&fields, &kind) ||
      cr_fields_bytes(&fields, &outcome->value, &outcome->value_length) ||
      cr_fields_bytes(&fields, &outcome->failure, &outcome->failure_length) ||
      cr_fields_bytes(&fields, &outcome->note, &outcome->note_length))
    return -1;
  if (kind < CR_RESULT_NULL || kind > CR_RESULT_OMITTED) return -1;
  outcome->exit_code = (int)(exit_code & 255);
  if (exit_code && !outcome->exit_code) outcome->exit_code = 1;
  outcome->kind = (enum cr_result_kind)kind;
  outcome->flags = frame->flags;
  return 0;
}

// Frames that no honest harness sends: the process is not to be trusted any more.
static void on_nonsense(struct cr_runtime *runtime) { after_death(runtime, CR_CAUSE_CRASH, SIGKILL, NULL); }

static void on_done(struct cr_runtime *runtime, const struct cr_frame *frame) {
  struct cr_outcome outcome = {0};
  struct cr_turn *turn = running_turn(runtime, frame->id);
  if (!turn || read_outcome(frame, &outcome)) {
    on_nonsense(runtime);
    return;
  }
  runtime->last_activity = uv_now(runtime->worker->loop);
  outcome.runtime_gone = (frame->flags & CR_DONE_LOST) && runtime->lang == CR_NODE;
  finish(turn, &outcome);
  if (!runtime->worker) return;
  if (frame->flags & CR_DONE_LOST)
    after_death(runtime, CR_CAUSE_CRASH, 0, NULL);
  else
    pump(runtime);
  retire_when_idle(runtime);
}

static void on_frame(void *of, const struct cr_frame *frame) {
  struct cr_runtime *runtime = of;
  if (frame->type == CR_FRAME_DONE)
    on_done(runtime, frame);
  else if (frame->type == CR_FRAME_PONG)
    cr_watch_pong(runtime);
  else if (cr_calls_take(runtime, frame))
    on_nonsense(runtime);
}

static struct cr_turn *current_run(struct cr_runtime *runtime) {
  for (struct cr_list *at = runtime->turns.next; at != &runtime->turns; at = at->next)
    if (turn_at(at)->running && turn_at(at)->kind == CR_FRAME_RUN) return turn_at(at);
  return NULL;
}

static void forget_last_words(struct cr_runtime *runtime) {
  if (runtime->last_words) cr_capture_free(runtime->last_words);
  free(runtime->last_words);
  runtime->last_words = NULL;
}

static void keep_last_words(struct cr_runtime *runtime, const uint8_t *bytes, size_t length) {
  if (!runtime->last_words) {
    runtime->last_words = cr_alloc(sizeof *runtime->last_words);
    cr_capture_start(runtime->last_words, 1);
  }
  cr_capture_write(runtime->last_words, bytes, length);
}

static void on_output(void *of, int stream, const uint8_t *bytes, size_t length) {
  struct cr_runtime *runtime = of;
  struct cr_turn *run = current_run(runtime);
  if (run) {
    cr_capture_write(run->streams[stream - 1], bytes, length);
    if (runtime->worker->listener) runtime->worker->listener(runtime->worker->listener_of, stream, bytes, length);
    return;
  }
  if (stream == 2) keep_last_words(runtime, bytes, length);
  size_t room = runtime->background < BACKGROUND_MAX ? BACKGROUND_MAX - runtime->background : 0;
  size_t shown = length < room ? length : room;
  runtime->background += shown;
  if (shown) cr_log_guest(CR_LOG_DEBUG, "background output", bytes, shown);
}

static void on_live(void *of) {
  struct cr_runtime *runtime = of;
  runtime->live = 1;
  for (struct cr_list *at = runtime->turns.next; at != &runtime->turns; at = at->next)
    if (turn_at(at)->running) start_deadline(turn_at(at));
}

static void on_ended(void *of, const struct cr_end *end) {
  struct cr_runtime *runtime = of;
  struct cr_turn *run = current_run(runtime);
  enum cr_cause cause = cr_death_cause(runtime->lang, end, run ? run->streams[1] : runtime->last_words);
  forget_last_words(runtime);
  after_death(runtime, cause, end->known ? end->status : SIGKILL, NULL);
}

static const struct cr_instance_events instance_events = {
    .live = on_live, .frame = on_frame, .output = on_output, .ended = on_ended};

static void on_runtime_closed(uv_handle_t *handle) {
  struct cr_runtime *runtime = handle->data;
  forget_last_words(runtime);
  free(runtime->prefix);
  free(runtime);
  free(handle);
}

// Freed from the loop: callbacks further up may still look at `worker`, which is then NULL.
static void release(struct cr_runtime *runtime) {
  uv_timer_t *later = cr_alloc(sizeof *later);
  uv_timer_init(runtime->worker->loop, later);
  later->data = runtime;
  runtime->worker->slots_used--;
  runtime->worker = NULL;
  uv_close((uv_handle_t *)later, on_runtime_closed);
}

void cr_runtime_destroy(struct cr_runtime *runtime, const char *code, const char *text) {
  if (!runtime->worker) return;
  forget_name(runtime);
  cr_list_remove(&runtime->link);
  char **ids = runtime->gone ? cr_published_ids(runtime) : NULL;
  cr_published_drop(runtime);
  cr_bindings_drop(runtime);
  cr_namespace_forget(runtime);
  cr_calls_drop(runtime);
  cr_instance_free(runtime->instance);
  runtime->instance = NULL;
  cr_scratch_release(&runtime->scratch, runtime->worker->loop);
  struct cr_list left;
  cr_list_init(&left);
  while (!cr_list_empty(&runtime->turns)) {
    struct cr_list *at = runtime->turns.next;
    cr_list_remove(at);
    cr_list_append(&left, at);
  }
  release(runtime);
  while (!cr_list_empty(&left)) fail(turn_at(left.next), code, text, 1);
  if (runtime->gone) runtime->gone(runtime->gone_of, ids);
  cr_published_ids_free(ids);
}

void cr_runtime_expire(struct cr_runtime *runtime) {
  if (!runtime->worker) return;
  if (runtime->life == CR_KEPT) cr_tombstones_add(&runtime->worker->tombstones, runtime->id);
  cr_runtime_destroy(runtime, CR_EXPIRED,
                     "the runtime has ended (idle, or killed over a limit): call run again without runtime_id; the new "
                     "runtime's directory starts empty");
}

static void retire_when_idle(struct cr_runtime *runtime) {
  if (!runtime->worker || !runtime->gone || cr_runtime_busy(runtime)) return;
  cr_runtime_destroy(runtime, CR_RUNTIME_NOT_FOUND, "the runtime was torn down");
}

void cr_runtime_retire(struct cr_runtime *runtime, void (*gone)(void *of, char **unregistered), void *of) {
  forget_name(runtime);
  runtime->gone = gone;
  runtime->gone_of = of;
  for (struct cr_list *at = runtime->turns.next, *next; at != &runtime->turns; at = next) {
    next = at->next;
    if (!turn_at(at)->running) fail(turn_at(at), CR_RUNTIME_NOT_FOUND, "the runtime was torn down", 1);
  }
  retire_when_idle(runtime);
}
