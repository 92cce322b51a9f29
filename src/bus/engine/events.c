#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "bus/engine/internal.h"

#define POLL_MS 5000

struct step {
  char *name_space, *function_id, *metadata, *condition;
};

// One event on its way to the handlers that wanted it when it happened. They run one after the other.
struct delivery {
  struct cr_list link;
  struct cr_engine *engine;
  char *payload;
  size_t length, bytes;
  struct step *steps;
  size_t count, at;
  struct cr_alarm alarm;  // the next step
};

static void step_free(struct step *step) {
  free(step->name_space);
  free(step->function_id);
  free(step->metadata);
  free(step->condition);
}

static void delivery_free(struct delivery *delivery) {
  cr_alarm_clear(delivery->engine->alarms, &delivery->alarm);
  cr_list_remove(&delivery->link);
  delivery->engine->event_bytes -= delivery->bytes;
  for (size_t i = 0; i < delivery->count; i++) step_free(&delivery->steps[i]);
  free(delivery->steps);
  free(delivery->payload);
  free(delivery);
}

static void next(struct delivery *delivery) {
  delivery->at++;
  cr_alarm_set(delivery->engine->alarms, &delivery->alarm, 0);
}

static void on_handled(void *of, const struct outcome *outcome) {
  struct delivery *delivery = of;
  if (outcome->code || outcome->error)
    cr_log(CR_LOG_INFO, "engine: a trigger's function failed: %s",
           outcome->code ? outcome->code : yyjson_get_str(yyjson_obj_get(outcome->error, "code")));
  next(delivery);
}

static void call_handler(struct delivery *delivery) {
  const struct step *step = &delivery->steps[delivery->at];
  cr_invoke_internal(delivery->engine, step->name_space, step->function_id, delivery->payload, delivery->length,
                     step->metadata, on_handled, delivery);
}

static void on_condition(void *of, const struct outcome *outcome) {
  struct delivery *delivery = of;
  int refused = outcome->error || outcome->code || yyjson_is_false(outcome->value) ||
                (outcome->json && outcome->length == 5 && !memcmp(outcome->json, "false", 5));
  if (refused)
    next(delivery);
  else
    call_handler(delivery);
}

static void on_alarm(struct cr_alarm *alarm) {
  struct delivery *delivery = cr_list_item(alarm, struct delivery, alarm);
  if (delivery->at == delivery->count) {
    delivery_free(delivery);
    return;
  }
  const struct step *step = &delivery->steps[delivery->at];
  if (step->condition)
    cr_invoke_internal(delivery->engine, step->name_space, step->condition, delivery->payload, delivery->length, NULL,
                       on_condition, delivery);
  else
    call_handler(delivery);
}

static void add_step(struct delivery *delivery, const struct binding *binding, const struct event *event) {
  yyjson_doc *doc = cr_json_parse(binding->config, strlen(binding->config), NULL);
  yyjson_val *config = yyjson_doc_get_root(doc);
  if (!event->match || event->match(config, event->of)) {
    struct step *step = &delivery->steps[delivery->count++];
    step->name_space = cr_strdup(binding->name_space);
    step->function_id = cr_strdup(binding->function_id);
    step->metadata = event->without_metadata ? NULL : cr_copied(binding->metadata);
    step->condition = event->match ? cr_copied(cr_optional_text(config, "condition_function_id")) : NULL;
    delivery->bytes += sizeof *step + binding->bytes;
  }
  yyjson_doc_free(doc);
}

int cr_event_wanted(struct cr_engine *engine, const char *name) {
  struct trigger_type *type = cr_trigger_type_find(engine, DEFAULT_NAMESPACE, name);
  return type && !cr_list_empty(&type->bindings);
}

void cr_event_fire(struct cr_engine *engine, const struct event *event) {
  struct trigger_type *type = cr_trigger_type_find(engine, DEFAULT_NAMESPACE, event->type);
  if (!type || cr_list_empty(&type->bindings)) return;
  if (engine->event_bytes > EVENTS_MAX) {
    cr_log(CR_LOG_WARN, "engine: an event of type %s is dropped, too many are on their way", event->type);
    return;
  }
  size_t count = 0;
  for (struct cr_list *at = type->bindings.next; at != &type->bindings; at = at->next) count++;
  struct delivery *delivery = cr_alloc(sizeof *delivery);
  *delivery = (struct delivery){.engine = engine,
                                .payload = cr_strndup(event->payload, event->length),
                                .length = event->length,
                                .bytes = sizeof *delivery + event->length,
                                .steps = cr_alloc(count * sizeof(struct step)),
                                .alarm.ring = on_alarm};
  for (struct cr_list *at = type->bindings.next; at != &type->bindings; at = at->next)
    add_step(delivery, cr_list_item(at, struct binding, provider_link), event);
  cr_list_append(&engine->events, &delivery->link);
  engine->event_bytes += delivery->bytes;
  cr_alarm_set(engine->alarms, &delivery->alarm, 0);
}

void cr_event_worker(struct cr_engine *engine, const char *what, const char *worker_id) {
  if (!cr_event_wanted(engine, "engine::workers-available")) return;
  cr_autobuf payload = CR_BUF(4096);
  struct cr_writer writer = cr_writer_open(&payload);
  cr_write_text(&writer, "event", what);
  cr_write_text(&writer, "worker_id", worker_id);
  if (cr_writer_close(&writer)) return;
  struct event event = {
      .type = "engine::workers-available", .payload = (const char *)payload.data, .length = payload.len};
  cr_event_fire(engine, &event);
}

static void on_functions(void *of, const struct outcome *outcome) {
  struct cr_engine *engine = of;
  static const char head[] = "{\"event\":\"functions_changed\",";
  if (!outcome->json || outcome->length < 2) return;
  cr_autobuf payload = CR_BUF(FRAME_MAX);
  if (cr_buf_puts(&payload, head) || cr_buf_append(&payload, outcome->json + 1, outcome->length - 1)) return;
  struct event event = {
      .type = "engine::functions-available", .payload = (const char *)payload.data, .length = payload.len};
  cr_event_fire(engine, &event);
}

static void on_poll(struct cr_alarm *alarm) {
  struct cr_engine *engine = cr_list_item(alarm, struct cr_engine, poll);
  cr_alarm_set(engine->alarms, alarm, POLL_MS);
  if (engine->fingerprint == engine->announced) return;
  engine->announced = engine->fingerprint;
  static const char all[] = "{\"include_internal\":true}";
  if (cr_event_wanted(engine, "engine::functions-available"))
    cr_invoke_internal(engine, DEFAULT_NAMESPACE, "engine::functions::list", all, sizeof all - 1, NULL, on_functions,
                       engine);
}

void cr_events_start(struct cr_engine *engine) {
  cr_trigger_type_builtin(engine, "engine::workers-available", "A worker connected, described itself or left", NULL);
  cr_trigger_type_builtin(engine, "engine::functions-available", "The set of functions changed", NULL);
  engine->poll.ring = on_poll;
  cr_alarm_set(engine->alarms, &engine->poll, POLL_MS);
}

void cr_events_free(struct cr_engine *engine) {
  while (!cr_list_empty(&engine->events)) delivery_free(cr_list_item(engine->events.next, struct delivery, link));
}
