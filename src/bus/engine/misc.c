// Small builtins: logging, baggage, health, publish.
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "bus/engine/internal.h"

static void log_line(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine;
  static const struct {
    const char *name;
    enum cr_log_level level;
  } levels[] = {{"error", CR_LOG_ERROR}, {"warn", CR_LOG_WARN}, {"info", CR_LOG_INFO}};
  const char *message = cr_input_text(invocation, input, "message");
  if (!message) return;
  enum cr_log_level level = CR_LOG_DEBUG;
  const char *name = invocation->function_id + strlen("engine::log::");
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (!strcmp(levels[i].name, name)) level = levels[i].level;
  size_t length = strlen(message);
  cr_log_guest(level, "engine: log", message, length < 2048 ? length : 2048);
  cr_answer_none(invocation);
}

// Members of a W3C baggage header: key=value[;properties], comma separated.
static yyjson_mut_val *baggage_members(yyjson_mut_doc *doc, const char *header) {
  yyjson_mut_val *members = yyjson_mut_obj(doc);
  while (header && *header) {
    size_t part = strcspn(header, ","), lead = strspn(header, " \t");
    size_t key = strcspn(header, "=,;");
    if (key < part && header[key] == '=' && key > lead) {
      const char *value = header + key + 1;
      size_t length = strcspn(value, ",;");
      yyjson_mut_obj_put(members, yyjson_mut_strncpy(doc, header + lead, key - lead),
                         yyjson_mut_strncpy(doc, value, length));
    }
    header += part + (header[part] == ',');
  }
  return members;
}

static void baggage_get(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine;
  const char *key = cr_input_text(invocation, input, "key");
  if (!key) return;
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_val *value = yyjson_mut_obj_get(baggage_members(doc, invocation->baggage), key);
  yyjson_mut_obj_add_val(doc, root, "value", value ? yyjson_mut_val_mut_copy(doc, value) : yyjson_mut_null(doc));
  cr_answer_doc(invocation, doc);
}

static void baggage_all(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine, (void)input;
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_val(doc, root, "baggage", baggage_members(doc, invocation->baggage));
  cr_answer_doc(invocation, doc);
}

static void baggage_set(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine;
  if (!cr_input_text(invocation, input, "key") || !cr_input_text(invocation, input, "value")) return;
  static const char json[] =
      "{\"success\":false,\"note\":\"baggage travels with a call; set it in the calling worker\"}";
  cr_answer_json(invocation, json, sizeof json - 1);
}

static void health(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)input;
  char json[160];
  int length =
      snprintf(json, sizeof json, "{\"status\":\"healthy\",\"version\":\"%s\",\"workers\":%zu,\"uptime_ms\":%llu}",
               CR_VERSION, engine->peer_count, (unsigned long long)(cr_engine_clock_ms() - engine->started_at_ms));
  cr_answer_json(invocation, json, (size_t)length);
}

static const char *refuse_subscription(yyjson_val *config) {
  const char *topic = cr_optional_text(config, "topic");
  return topic && *topic ? NULL : "`topic` must be a non-empty string";
}

static int same_topic(yyjson_val *config, const void *of) {
  return yyjson_equals_str(yyjson_obj_get(config, "topic"), of);
}

static void publish(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *topic = cr_input_text(invocation, input, "topic");
  if (!topic) return;
  if (!*topic) {
    cr_answer_error(invocation, "topic_not_set", "the topic is empty");
    return;
  }
  yyjson_val *data = cr_input_any(invocation, input, "data");
  if (!data) return;
  size_t length = 0;
  char *text = cr_value_text(data, &length);
  struct event event = {
      .type = "subscribe", .payload = text, .length = length, .match = same_topic, .of = topic, .without_metadata = 1};
  cr_event_fire(engine, &event);
  free(text);
  cr_answer_none(invocation);
}

void cr_misc_start(struct cr_engine *engine) {
  static const char *const logs[] = {"engine::log::trace", "engine::log::debug", "engine::log::info",
                                     "engine::log::warn", "engine::log::error"};
  for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
    cr_builtin_register(engine, logs[i], "Writes a line to the engine's log", log_line);
  cr_builtin_register(engine, "engine::baggage::get", "One baggage member of the calling context", baggage_get);
  cr_builtin_register(engine, "engine::baggage::set", "Cannot change the caller's baggage; says so", baggage_set);
  cr_builtin_register(engine, "engine::baggage::get_all", "All baggage members of the calling context", baggage_all);
  cr_builtin_register(engine, "engine::health::check", "Whether the engine works", health);
  cr_builtin_register(engine, "engine::register_trigger", "Binds a function to a trigger type, tied to no connection",
                      cr_builtin_register_trigger);
  cr_builtin_register(engine, "engine::unregister_trigger", "Removes a binding", cr_builtin_unregister_trigger);
  cr_builtin_register(engine, "publish", "Publishes data to the subscribers of a topic", publish);
  cr_trigger_type_builtin(engine, "subscribe", "Data published to a topic", refuse_subscription);
}
