#include "worker/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "bus/client.h"
#include "worker/bindings.h"
#include "worker/internal.h"
#include "worker/metadata.h"
#include "worker/published.h"
#include "worker/runtime.h"
#include "worker/targets.h"

#define NO_BUS "there is no bus: this code-runner runs without an engine"
#define IN_FLIGHT_MAX 64u  // of one runtime; the harness stops at 32 with a better message
#define PAYLOAD_MAX 1048576u

// A call on the bus whose answer a guest waits for.
struct call {
  struct cr_list link;
  struct cr_runtime *runtime;
  uint32_t id;
  uint64_t number;
};

static void answer(struct cr_runtime *runtime, uint32_t id, int failed, const char *text, size_t length) {
  struct cr_frame_writer writer =
      cr_frame_begin(cr_instance_outgoing(runtime->instance), CR_FRAME_ANSWER, failed ? CR_ANSWER_ERROR : 0, id);
  cr_frame_bytes(&writer, text, length);
  if (!cr_frame_end(&writer)) cr_instance_flush(runtime->instance);
}

static void answer_error(struct cr_runtime *runtime, uint32_t id, const char *text) {
  answer(runtime, id, 1, text, strlen(text));
}

static int take_text(struct cr_fields *fields, char **text) {
  const uint8_t *bytes;
  uint32_t length;
  if (cr_fields_bytes(fields, &bytes, &length) || memchr(bytes, 0, length)) return -1;
  *text = cr_strndup((const char *)bytes, length);
  return 0;
}

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  struct call *call = of;
  struct cr_runtime *runtime = call->runtime;
  cr_list_remove(&call->link);
  if (failure) {
    cr_autofree char *text = cr_format("%s: %s", failure->code, failure->message);
    answer_error(runtime, call->id, text);
  } else {
    answer(runtime, call->id, 0, result ? result : "null", result ? length : 4);
  }
  free(call);
}

static unsigned in_flight(const struct cr_runtime *runtime) {
  unsigned count = 0;
  for (struct cr_list *at = runtime->calls.next; at != &runtime->calls; at = at->next) count++;
  return count;
}

// The bus spelling of an action, NULL for a plain call. `*invalid` when it is none.
static char *action_text(const char *action, int *invalid) {
  *invalid = 0;
  if (!*action) return NULL;
  if (!strcmp(action, "void")) return cr_strdup("{\"type\":\"void\"}");
  yyjson_doc *doc = cr_json_parse(action, strlen(action), NULL);
  yyjson_val *root = yyjson_doc_get_root(doc);
  const char *type = yyjson_get_str(yyjson_obj_get(root, "type"));
  char *text = NULL;
  if (type && !strcmp(type, "void")) text = cr_strdup("{\"type\":\"void\"}");
  if (type && !strcmp(type, "enqueue") && yyjson_is_str(yyjson_obj_get(root, "queue"))) text = cr_json_text(root, NULL);
  yyjson_doc_free(doc);
  *invalid = !text;
  return text;
}

static uint64_t clamp_timeout(const struct cr_runtime *runtime, int64_t wanted) {
  return cr_config_budget(&runtime->worker->config, wanted > 0 ? (uint64_t)wanted : 0);
}

static void send_call(struct cr_runtime *runtime, uint32_t id, const struct cr_bus_request *request) {
  struct call *call = cr_alloc(sizeof *call);
  *call = (struct call){.runtime = runtime, .id = id};
  cr_list_append(&runtime->calls, &call->link);
  call->number = cr_bus_call(runtime->worker->bus, request, on_answer, call);
}

static int trigger(struct cr_runtime *runtime, uint32_t id, struct cr_fields *fields) {
  cr_autofree char *target = NULL, *action = NULL, *bus_action = NULL;
  const uint8_t *payload;
  uint32_t length;
  int64_t timeout;
  if (take_text(fields, &target) || cr_fields_bytes(fields, &payload, &length) || take_text(fields, &action) ||
      cr_fields_number(fields, &timeout))
    return -1;
  struct cr_error err = {0};
  int invalid = 0;
  yyjson_doc *doc = cr_json_parse((const char *)payload, length, &err);
  if (doc && !cr_target_call(target, yyjson_doc_get_root(doc), &err)) {
    bus_action = action_text(action, &invalid);
    if (invalid) cr_error_set(&err, CR_INVALID_REQUEST, "invalid action");
    if (length > PAYLOAD_MAX || strlen(target) > CR_ID_MAX || strlen(action) > CR_ID_MAX)
      cr_error_set(&err, CR_INVALID_REQUEST, "over the limit: function_id and action %u bytes, payload %u", CR_ID_MAX,
                   PAYLOAD_MAX);
    if (in_flight(runtime) >= IN_FLIGHT_MAX)
      cr_error_set(&err, CR_INVALID_REQUEST, "too many calls in flight; the limit is 32");
    if (!runtime->worker->bus) cr_error_set(&err, CR_ENGINE, NO_BUS);
  }
  yyjson_doc_free(doc);
  cr_autofree char *text = cr_strndup((const char *)payload, length);
  const struct cr_bus_request request = {.function_id = target,
                                         .payload = text,
                                         .payload_length = length,
                                         .action = bus_action,
                                         .timeout_ms = clamp_timeout(runtime, timeout)};
  if (err.code)
    answer_error(runtime, id, err.message);
  else
    send_call(runtime, id, &request);
  cr_error_clear(&err);
  return 0;
}

static int in_prefix(const struct cr_runtime *runtime, const char *id, struct cr_error *err) {
  size_t length = strlen(runtime->prefix);
  if (length && !strncmp(id, runtime->prefix, length) && id[length]) return 0;
  return cr_error_set(err, CR_INVALID_REQUEST, "`%.120s` is outside this runtime's namespace `%s`", id,
                      runtime->prefix);
}

static int publish(struct cr_runtime *runtime, const char *id, yyjson_val *options, struct cr_error *err) {
  struct cr_metadata metadata;
  if (cr_metadata_check_id(id, strlen(id), err) || in_prefix(runtime, id, err) ||
      cr_metadata_read(options, &metadata, err))
    return -1;
  struct cr_published *function = cr_published_find(runtime->worker, id);
  int failed = !function && cr_bindings_room(runtime, err);
  if (!failed) failed = !(function = cr_published_claim(runtime->worker, runtime, id, err));
  // The same id again without any of it: what is published stays as it was.
  if (!failed && !(function->live && cr_metadata_empty(&metadata))) {
    if (!metadata.description)
      metadata.description = cr_strdup("A JavaScript (node) function published through code-runner.");
    failed = cr_published_announce(function, &metadata, err);
  }
  cr_metadata_free(&metadata);
  return failed ? -1 : 0;
}

static int register_function(struct cr_runtime *runtime, struct cr_fields *fields, struct cr_error *err) {
  cr_autofree char *id = NULL;
  const uint8_t *options;
  uint32_t length;
  if (take_text(fields, &id) || cr_fields_bytes(fields, &options, &length)) return -1;
  yyjson_doc *doc = cr_json_parse((const char *)options, length, err);
  if (doc) (void)publish(runtime, id, yyjson_doc_get_root(doc), err);
  yyjson_doc_free(doc);
  return 0;
}

static int unregister_function(struct cr_runtime *runtime, struct cr_fields *fields) {
  cr_autofree char *id = NULL;
  if (take_text(fields, &id)) return -1;
  struct cr_published *function = cr_published_find(runtime->worker, id);
  if (function && function->runtime == runtime) cr_published_withdraw(function);
  return 0;
}

static int register_trigger(struct cr_runtime *runtime, struct cr_fields *fields, char **result, struct cr_error *err) {
  const uint8_t *input;
  uint32_t length;
  if (cr_fields_bytes(fields, &input, &length)) return -1;
  char id[37] = "";
  yyjson_doc *doc = cr_json_parse((const char *)input, length, err);
  if (doc && !cr_bindings_bind(runtime, yyjson_doc_get_root(doc), id, err)) *result = cr_format("\"%s\"", id);
  yyjson_doc_free(doc);
  return 0;
}

static int unregister_trigger(struct cr_runtime *runtime, struct cr_fields *fields) {
  cr_autofree char *id = NULL;
  if (take_text(fields, &id)) return -1;
  cr_bindings_unbind(runtime, id);
  return 0;
}

static int register_type(struct cr_runtime *runtime, struct cr_fields *fields, struct cr_error *err) {
  cr_autofree char *id = NULL, *description = NULL;
  if (take_text(fields, &id) || take_text(fields, &description)) return -1;
  if (strlen(description) > CR_DESCRIPTION_MAX)
    cr_error_set(err, CR_INVALID_REQUEST, "the description is %zu bytes; the limit is %u", strlen(description),
                 CR_DESCRIPTION_MAX);
  else if (!cr_metadata_check_id(id, strlen(id), err) && !in_prefix(runtime, id, err))
    (void)cr_bindings_provide(runtime, id, description, err);
  return 0;
}

static int unregister_type(struct cr_runtime *runtime, struct cr_fields *fields, struct cr_error *err) {
  cr_autofree char *id = NULL;
  if (take_text(fields, &id)) return -1;
  if (!in_prefix(runtime, id, err)) cr_bindings_withdraw(runtime, id);
  return 0;
}

static int registration(struct cr_runtime *runtime, int op, struct cr_fields *fields, char **result,
                        struct cr_error *err) {
  switch (op) {
    case CR_CALL_REGISTER_FUNCTION: return register_function(runtime, fields, err);
    case CR_CALL_UNREGISTER_FUNCTION: return unregister_function(runtime, fields);
    case CR_CALL_REGISTER_TRIGGER: return register_trigger(runtime, fields, result, err);
    case CR_CALL_UNREGISTER_TRIGGER: return unregister_trigger(runtime, fields);
    case CR_CALL_REGISTER_TRIGGER_TYPE: return register_type(runtime, fields, err);
    default: return unregister_type(runtime, fields, err);
  }
}

int cr_calls_take(struct cr_runtime *runtime, const struct cr_frame *frame) {
  struct cr_fields fields = cr_frame_fields(frame);
  if (frame->type != CR_FRAME_CALL) return -1;
  if (frame->flags == CR_CALL_TRIGGER) return trigger(runtime, frame->id, &fields);
  if (frame->flags < CR_CALL_TRIGGER || frame->flags > CR_CALL_UNREGISTER_TRIGGER_TYPE) return -1;
  struct cr_error err = {0};
  cr_autofree char *result = NULL;
  if (!runtime->worker->bus)
    cr_error_set(&err, CR_ENGINE, NO_BUS);
  else if (registration(runtime, frame->flags, &fields, &result, &err))
    return -1;
  if (err.code)
    answer_error(runtime, frame->id, err.message);
  else
    answer(runtime, frame->id, 0, result ? result : "null", result ? strlen(result) : 4);
  cr_error_clear(&err);
  return 0;
}

void cr_calls_drop(struct cr_runtime *runtime) {
  while (!cr_list_empty(&runtime->calls)) {
    struct call *call = cr_list_item(runtime->calls.next, struct call, link);
    cr_bus_cancel(runtime->worker->bus, call->number);
    cr_list_remove(&call->link);
    free(call);
  }
}
