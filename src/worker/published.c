#include "worker/published.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bus/client.h"
#include "worker/internal.h"
#include "worker/link.h"
#include "worker/mask.h"
#include "worker/runtime.h"

#define PYTHON_PAYLOAD_MAX 1048576u

static struct cr_published *item(struct cr_list *link) { return cr_list_item(link, struct cr_published, link); }

struct cr_published *cr_published_find(struct cr_worker *worker, const char *id) {
  struct cr_published *found;
  HASH_FIND_STR(worker->published, id, found);
  return found;
}

struct cr_published *cr_published_claim(struct cr_worker *worker, struct cr_runtime *runtime, const char *id,
                                        struct cr_error *err) {
  struct cr_published *function = cr_published_find(worker, id);
  if (cr_worker_owns(id) || (function && function->runtime != runtime)) {
    cr_error_set(err, CR_INVALID_REQUEST, "function id `%s` is already taken", id);
    return NULL;
  }
  if (function) return function;
  function = cr_alloc(sizeof *function);
  function->id = cr_strdup(id);
  function->worker = worker;
  function->runtime = runtime;
  cr_list_append(&runtime->published, &function->link);
  HASH_ADD_KEYPTR(hh, worker->published, function->id, strlen(function->id), function);
  return function;
}

static void on_call(void *of, struct cr_bus_invocation *invocation);

int cr_published_announce(struct cr_published *function, struct cr_metadata *metadata, struct cr_error *err) {
  struct cr_bus *bus = function->worker->bus;
  cr_metadata_free(&function->metadata);
  function->metadata = *metadata;
  *metadata = (struct cr_metadata){0};
  const struct cr_bus_function announced = {.id = function->id,
                                            .description = function->metadata.description,
                                            .request_format = function->metadata.request_format,
                                            .response_format = function->metadata.response_format};
  if (bus && function->live) cr_bus_unregister(bus, function->id);
  function->live = 1;
  return bus ? cr_bus_register(bus, &announced, on_call, function->worker, err) : 0;
}

void cr_published_withdraw(struct cr_published *function) {
  if (function->live && function->worker->bus) cr_bus_unregister(function->worker->bus, function->id);
  HASH_DEL(function->worker->published, function);
  cr_list_remove(&function->link);
  cr_metadata_free(&function->metadata);
  free(function->source);
  free(function->broken);
  free(function->id);
  free(function);
}

void cr_published_settle(struct cr_published *function) {
  if (function->pending) function->pending--;
  if (!function->live && !function->pending) cr_published_withdraw(function);
}

unsigned cr_published_count(const struct cr_runtime *runtime) {
  unsigned count = 0;
  for (struct cr_list *at = runtime->published.next; at != &runtime->published; at = at->next) count++;
  return count;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **cr_published_ids(const struct cr_runtime *runtime) {
  char **ids = cr_alloc(sizeof *ids * (cr_published_count(runtime) + 1));
  size_t count = 0;
  for (struct cr_list *at = runtime->published.next; at != &runtime->published; at = at->next)
    if (item(at)->live) ids[count++] = cr_strdup(item(at)->id);
  qsort(ids, count, sizeof *ids, by_text);
  return ids;
}

void cr_published_ids_free(char **ids) {
  for (char **at = ids; ids && *at; at++) free(*at);
  free(ids);
}

void cr_published_drop(struct cr_runtime *runtime) {
  while (!cr_list_empty(&runtime->published)) cr_published_withdraw(item(runtime->published.next));
}

// --- calls ----------------------------------------------------------------------------------------------------------

struct call {
  cr_reply *reply;
  void *of;
  struct cr_worker *worker;
};

static int runtime_is_gone(const char *code) {
  return !strcmp(code, CR_EXPIRED) || !strcmp(code, CR_RUNTIME_NOT_FOUND);
}

static void refine(struct cr_outcome *outcome) {
  struct cr_error *error = &outcome->error;
  int length = (int)outcome->failure_length;
  if (error->code && runtime_is_gone(error->code))
    cr_error_set(error, CR_ENGINE, "the runtime behind this function is gone; the call may be retried");
  if (error->code || !outcome->exit_code) return;
  if (outcome->flags & CR_DONE_MEMORY)
    cr_error_set(error, CR_RESOURCE_EXHAUSTED, "the runtime's memory cap was exceeded");
  else if (outcome->flags & CR_DONE_DISK)
    cr_error_set(error, CR_RESOURCE_EXHAUSTED, "/work is over its budget");
  else
    cr_error_set(error, CR_HANDLER_ERROR, "%.*s", length, (const char *)outcome->failure);
}

static void on_answered(void *of, struct cr_outcome *outcome) {
  struct call *call = of;
  size_t depth = 0;
  const char *value = (const char *)outcome->value;
  refine(outcome);
  int has_value = !outcome->error.code && outcome->kind == CR_RESULT_JSON;
  if (has_value && !cr_json_valid(value, outcome->value_length, &depth)) has_value = 0;
  if (has_value && depth > CR_BUS_DEPTH_MAX)
    cr_error_set(&outcome->error, CR_HANDLER_ERROR, "the result nests %zu deep; the bus carries %d", depth,
                 CR_BUS_DEPTH_MAX);
  if (outcome->error.code) {
    cr_mask_ids(outcome->error.message, NULL);
    call->reply(call->of, NULL, 0, &outcome->error);
  } else {
    call->reply(call->of, has_value ? value : "null", has_value ? outcome->value_length : 4, NULL);
  }
  free(call);
}

static void reply_with(cr_reply *reply, void *of, const char *code, const char *text) {
  struct cr_error err = {0};
  cr_error_set(&err, code, "%s", text);
  reply(of, NULL, 0, &err);
  cr_error_clear(&err);
}

void cr_published_call(struct cr_published *function, const char *payload, size_t length, cr_reply *reply, void *of) {
  struct cr_worker *worker = function->worker;
  if (function->broken) {
    reply_with(reply, of, CR_HANDLER_ERROR, function->broken);
    return;
  }
  if (function->runtime->lang == CR_PYTHON && length > PYTHON_PAYLOAD_MAX) {
    cr_autofree char *text = cr_format("the payload is %zu bytes of JSON; max %u", length, PYTHON_PAYLOAD_MAX);
    reply_with(reply, of, CR_INVALID_REQUEST, text);
    return;
  }
  struct call *call = cr_alloc(sizeof *call);
  *call = (struct call){.reply = reply, .of = of, .worker = worker};
  uint64_t budget = cr_config_budget(&worker->config, 0);
  struct cr_turn *turn = cr_turn_create(function->runtime, CR_FRAME_INVOKE, budget);
  struct cr_frame_writer writer = cr_frame_begin(&turn->frame, CR_FRAME_INVOKE, 0, 0);
  cr_frame_text(&writer, function->id);
  cr_frame_bytes(&writer, payload, length);
  cr_frame_number(&writer, (int64_t)budget);
  turn->finished = on_answered;
  turn->of = call;
  if (cr_frame_end(&writer))
    cr_turn_refuse(turn, CR_INVALID_REQUEST, "the payload is too large");
  else
    cr_runtime_submit(turn);
}

static void on_call(void *of, struct cr_bus_invocation *invocation) {
  struct cr_published *function = cr_published_find(of, invocation->function_id);
  if (function && function->live)
    cr_published_call(function, invocation->payload, invocation->payload_length, cr_link_reply, invocation);
  else
    cr_bus_reply_error(invocation, "function_not_found", "Function not found");
}

// --- replay ---------------------------------------------------------------------------------------------------------

struct replay {
  struct cr_worker *worker;
  char *id;
};

static void on_replayed(void *of, struct cr_outcome *outcome) {
  struct replay *replay = of;
  struct cr_published *function = cr_published_find(replay->worker, replay->id);
  if (function && (outcome->error.code || outcome->exit_code || outcome->flags & CR_DONE_UNHANDLED)) {
    free(function->broken);
    function->broken = outcome->error.code ? cr_strdup(outcome->error.message)
                                           : cr_strndup((const char *)outcome->failure, outcome->failure_length);
  }
  free(replay->id);
  free(replay);
}

void cr_published_replay(struct cr_runtime *runtime) {
  for (struct cr_list *at = runtime->published.prev; at != &runtime->published; at = at->prev) {
    struct cr_published *function = item(at);
    if (!function->live || !function->source) continue;
    free(function->broken);
    function->broken = NULL;
    struct replay *replay = cr_alloc(sizeof *replay);
    *replay = (struct replay){.worker = runtime->worker, .id = cr_strdup(function->id)};
    struct cr_turn *turn = cr_turn_define(runtime, function->id, function->source, strlen(function->source));
    turn->finished = on_replayed;
    turn->of = replay;
    cr_runtime_submit_first(turn);
  }
}
