#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/log.h"
#include "bus/engine/internal.h"

#define INTERNAL_MS 30000  // how long the engine itself waits for a handler

static struct invocation *create(struct cr_engine *engine, struct peer *caller, const char *id,
                                 const char *function_id) {
  struct invocation *invocation = cr_alloc(sizeof *invocation);
  invocation->engine = engine;
  if (id)
    memcpy(invocation->id, id, sizeof invocation->id);
  else
    cr_uuid(invocation->id);
  cr_uuid_read(invocation->id, invocation->key);
  invocation->function_id = cr_strdup(function_id);
  invocation->caller = caller;
  cr_list_init(&invocation->caller_link);
  cr_list_init(&invocation->executor_link);
  if (!caller) return invocation;
  cr_list_append(&caller->calling, &invocation->caller_link);
  caller->calling_count++;
  return invocation;
}

static void drop_caller(struct invocation *invocation) {
  if (!invocation->caller) return;
  cr_list_remove(&invocation->caller_link);
  invocation->caller->calling_count--;
  invocation->caller = NULL;
}

static void drop_executor(struct invocation *invocation) {
  if (!invocation->executor) return;
  cr_list_remove(&invocation->executor_link);
  invocation->executor->executing_count--;
  invocation->executor = NULL;
  HASH_DEL(invocation->engine->invocations, invocation);
}

static void release(struct invocation *invocation) {
  cr_alarm_clear(invocation->engine->alarms, &invocation->alarm);
  drop_executor(invocation);
  drop_caller(invocation);
  free(invocation->function_id);
  free(invocation->traceparent);
  free(invocation->baggage);
  free(invocation);
}

// --- answers ------------------------------------------------------------------------------------------------------

static struct cr_writer answer_open(const struct invocation *invocation) {
  struct cr_writer writer = cr_engine_frame(invocation->engine, "invocationresult");
  cr_write_text(&writer, "invocation_id", invocation->id);
  cr_write_text(&writer, "function_id", invocation->function_id);
  return writer;
}

static int answer_close(const struct invocation *invocation, struct cr_writer *writer) {
  cr_write_text(writer, "traceparent", invocation->traceparent);
  cr_write_text(writer, "baggage", invocation->baggage);
  return cr_writer_close(writer);
}

static void send_answer(const struct invocation *invocation, const struct outcome *outcome) {
  struct cr_writer writer = answer_open(invocation);
  if (outcome->error)
    cr_msg_copy_error(&writer, outcome->error);
  else if (outcome->code)
    cr_msg_write_error(&writer, outcome->code, outcome->message, NULL);
  else if (outcome->json)
    cr_write_json(&writer, "result", outcome->json, outcome->length);
  else
    cr_write_value(&writer, "result", outcome->value);
  if (answer_close(invocation, &writer)) {
    writer = answer_open(invocation);
    cr_msg_write_error(&writer, "serialization_error", "the result is too large", NULL);
    if (answer_close(invocation, &writer)) return;
  }
  cr_peer_send_frame(invocation->caller);
}

void cr_answer(struct invocation *invocation, const struct outcome *outcome) {
  invocation_done *done = invocation->done;
  void *of = invocation->of;
  if (invocation->caller && !invocation->silent && !invocation->caller->gone) send_answer(invocation, outcome);
  release(invocation);
  if (done) done(of, outcome);
}

void cr_answer_none(struct invocation *invocation) { cr_answer(invocation, &(struct outcome){0}); }

void cr_answer_json(struct invocation *invocation, const char *json, size_t length) {
  cr_answer(invocation, &(struct outcome){.json = json, .length = length});
}

void cr_answer_doc(struct invocation *invocation, yyjson_mut_doc *doc) {
  size_t length = 0;
  char *text = yyjson_mut_write(doc, YYJSON_WRITE_NOFLAG, &length);
  yyjson_mut_doc_free(doc);
  if (text)
    cr_answer_json(invocation, text, length);
  else
    cr_answer_error(invocation, "serialization_error", "the result cannot be written");
  free(text);
}

void cr_answer_error(struct invocation *invocation, const char *code, const char *format, ...) {
  char *message = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&message, format, arguments);
  va_end(arguments);
  if (length < 0) cr_out_of_memory();
  cr_answer(invocation, &(struct outcome){.code = code, .message = message});
  free(message);
}

// --- inputs of builtins -------------------------------------------------------------------------------------------

static void missing(struct invocation *invocation, yyjson_val *input, const char *name) {
  char id[256];
  snprintf(id, sizeof id, "%s", invocation->function_id);
  if (!yyjson_is_obj(input))
    cr_answer_error(invocation, "deserialization_error", "Failed to deserialize input for %s: expected an object", id);
  else if (yyjson_obj_get(input, name))
    cr_answer_error(invocation, "deserialization_error",
                    "Failed to deserialize input for %s: invalid type for field `%s`", id, name);
  else
    cr_answer_error(invocation, "deserialization_error", "Failed to deserialize input for %s: missing field `%s`", id,
                    name);
}

const char *cr_optional_text(yyjson_val *input, const char *name) {
  yyjson_val *value = yyjson_obj_get(input, name);
  const char *text = yyjson_get_str(value);
  return text && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

int cr_optional_true(yyjson_val *input, const char *name) { return yyjson_is_true(yyjson_obj_get(input, name)); }

const char *cr_input_text(struct invocation *invocation, yyjson_val *input, const char *name) {
  const char *text = cr_optional_text(input, name);
  if (!text) missing(invocation, input, name);
  return text;
}

yyjson_val *cr_input_any(struct invocation *invocation, yyjson_val *input, const char *name) {
  yyjson_val *value = yyjson_obj_get(input, name);
  if (!value) missing(invocation, input, name);
  return value;
}

// --- routing ------------------------------------------------------------------------------------------------------

static void not_found(struct invocation *invocation, const char *name_space) {
  cr_autobuf text = CR_BUF(4096);
  cr_buf_printf(&text, "Function %.1024s not found in namespace %.256s.", invocation->function_id, name_space);
  struct function_id *group = cr_catalogue_group(invocation->engine, invocation->function_id);
  if (group) cr_buf_puts(&text, " It is registered in namespace(s): ");
  for (struct function *other = group ? group->first : NULL; other; other = other->next)
    cr_buf_printf(&text, "%.256s%s", other->name_space, other->next ? ", " : ".");
  cr_answer_error(invocation, "function_not_found", "%.*s", (int)text.len, (const char *)text.data);
}

static void forward(struct invocation *invocation, struct peer *executor, const char *data, size_t length,
                    const char *metadata) {
  struct cr_engine *engine = invocation->engine;
  if (executor->executing_count >= CALLS_MAX) {
    cr_answer_error(invocation, "invocation_error", "the worker has too many calls that it has not answered");
    return;
  }
  invocation->executor = executor;
  cr_list_append(&executor->executing, &invocation->executor_link);
  executor->executing_count++;
  HASH_ADD(hh, engine->invocations, key, sizeof invocation->key, invocation);
  struct cr_writer writer = cr_engine_frame(engine, "invokefunction");
  cr_write_text(&writer, "invocation_id", invocation->id);
  cr_write_text(&writer, "function_id", invocation->function_id);
  cr_write_json(&writer, "data", data, length);
  if (metadata) cr_write_json(&writer, "metadata", metadata, strlen(metadata));
  cr_write_text(&writer, "traceparent", invocation->traceparent);
  cr_write_text(&writer, "baggage", invocation->baggage);
  if (cr_writer_close(&writer))
    cr_answer_error(invocation, "serialization_error", "the call is too large");
  else
    cr_peer_send_frame(executor);
}

static int has_caller_id(yyjson_val *data) { return yyjson_obj_get(data, "_caller_worker_id") != NULL; }

static char *data_text(yyjson_val *data, size_t *length) {
  if (data) return cr_value_text(data, length);
  *length = 4;
  return cr_strdup("null");
}

// The payload with `_caller_worker_id` (spec 4.2) where it is an object: numbers and order stay as they came.
static char *payload_text(struct peer *caller, yyjson_val *data, size_t *length) {
  char *text = data_text(data, length);
  if (!yyjson_is_obj(data)) return text;
  cr_autobuf out = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&out);
  cr_write_text(&writer, "_caller_worker_id", caller->id);
  if (!has_caller_id(data)) {
    if (*length > 2) writer.failed |= cr_buf_append(&out, ",", 1);
    writer.failed |= cr_buf_append(&out, text + 1, *length - 1);
  } else {
    yyjson_val *key, *value;
    size_t index, count;
    yyjson_obj_foreach(data, index, count, key, value) {
      if (yyjson_equals_str(key, "_caller_worker_id")) continue;
      writer.failed |= cr_buf_append(&out, ",", 1) || cr_quote(&out, yyjson_get_str(key), yyjson_get_len(key)) ||
                       cr_buf_append(&out, ":", 1);
      size_t size = 0;
      char *member = cr_value_text(value, &size);
      writer.failed |= cr_buf_append(&out, member, size);
      free(member);
    }
    writer.failed |= cr_buf_append(&out, "}", 1);
  }
  if (writer.failed) return text;
  free(text);
  *length = out.len;
  return cr_strndup((const char *)out.data, out.len);
}

static void run_builtin(struct invocation *invocation, const struct function *function, const char *data,
                        size_t length) {
  yyjson_doc *doc = yyjson_read_opts((char *)data, length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  yyjson_val *input = yyjson_doc_get_root(doc);
  if (yyjson_is_obj(input))
    function->run(invocation->engine, invocation, input);
  else
    missing(invocation, input, "");
  yyjson_doc_free(doc);
}

static void dispatch(struct invocation *invocation, const char *name_space, const char *data, size_t length,
                     const char *metadata) {
  struct function *function = cr_catalogue_find(invocation->engine, name_space, invocation->function_id);
  if (!function)
    not_found(invocation, name_space);
  else if (function->run)
    run_builtin(invocation, function, data, length);
  else
    forward(invocation, function->owner, data, length, metadata);
}

static int blank(const char *text) { return text[strspn(text, " \t\r\n")] == 0; }

// Whether this call's id can be used: not while another call has it.
static int id_taken(struct cr_engine *engine, const char *id) {
  uint8_t key[16];
  struct invocation *other = NULL;
  if (!cr_uuid_read(id, key)) HASH_FIND(hh, engine->invocations, key, sizeof key, other);
  return other != NULL;
}

struct receipt {
  struct invocation *invocation;
  char id[CR_UUID_SIZE];
};

static void on_enqueued(void *of, const struct outcome *outcome) {
  struct receipt *receipt = of;
  char json[96];
  int length = snprintf(json, sizeof json, "{\"messageReceiptId\":\"%s\"}", receipt->id);
  const char *message = outcome->error ? yyjson_get_str(yyjson_obj_get(outcome->error, "message")) : outcome->message;
  if (!outcome->error && !outcome->code)
    cr_answer_json(receipt->invocation, json, (size_t)length);
  else if (!outcome->error && !strcmp(outcome->code, "function_not_found"))
    cr_answer_error(receipt->invocation, "enqueue_error",
                    "no queue provider is installed: no worker serves engine::queue::enqueue");
  else
    cr_answer_error(receipt->invocation, "enqueue_error", "%s", message ? message : "the queue provider failed");
  free(receipt);
}

static void enqueue(struct invocation *invocation, const struct cr_msg *msg, const char *name_space) {
  struct cr_engine *engine = invocation->engine;
  struct receipt *receipt = cr_alloc(sizeof *receipt);
  receipt->invocation = invocation;
  cr_uuid(receipt->id);
  cr_autobuf payload = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&payload);
  cr_write_text(&writer, "queue", msg->queue);
  cr_write_text(&writer, "function_id", msg->function_id);
  size_t length = 0;
  char *data = data_text(msg->data, &length);
  cr_write_json(&writer, "data", data, length);
  free(data);
  cr_write_text(&writer, "messageReceiptId", receipt->id);
  cr_write_text(&writer, "traceparent", msg->traceparent);
  cr_write_text(&writer, "baggage", msg->baggage);
  if (strcmp(name_space, DEFAULT_NAMESPACE) != 0) cr_write_text(&writer, "namespace", name_space);
  if (cr_writer_close(&writer))
    on_enqueued(receipt, &(struct outcome){.code = "enqueue_error", .message = "the call is too large"});
  else
    cr_invoke_internal(engine, DEFAULT_NAMESPACE, "engine::queue::enqueue", (const char *)payload.data, payload.len,
                       NULL, on_enqueued, receipt);
}

void cr_invoke(struct peer *caller, const struct cr_msg *msg) {
  struct cr_engine *engine = caller->engine;
  int asked = msg->invocation_id && msg->action != CR_ACTION_VOID;
  if (asked && id_taken(engine, msg->invocation_id)) {
    cr_log(CR_LOG_WARN, "engine: worker %s uses the id of a call that is not answered yet", caller->id);
    return;
  }
  const char *name_space = msg->name_space ? msg->name_space : DEFAULT_NAMESPACE;
  struct invocation *invocation = create(engine, caller, asked ? msg->invocation_id : NULL, msg->function_id);
  invocation->origin = caller;
  invocation->silent = !asked;
  invocation->traceparent = cr_copied(msg->traceparent);
  invocation->baggage = cr_copied(msg->baggage);
  if (blank(name_space)) {
    cr_answer_error(invocation, "INVALID_NAMESPACE", "the field `namespace` of the call is blank");
  } else if (caller->calling_count > CALLS_MAX) {
    cr_answer_error(invocation, "invocation_error", "this worker has too many calls in flight");
  } else if (msg->action == CR_ACTION_ENQUEUE) {
    enqueue(invocation, msg, name_space);
  } else {
    size_t length = 0;
    char *data = payload_text(caller, msg->data, &length);
    char *metadata = cr_value_text(msg->metadata, &(size_t){0});
    dispatch(invocation, name_space, data, length, metadata);
    free(data);
    free(metadata);
  }
}

void cr_invoke_result(struct peer *executor, const struct cr_msg *msg) {
  uint8_t key[16];
  struct invocation *invocation = NULL;
  if (!cr_uuid_read(msg->invocation_id, key)) HASH_FIND(hh, executor->engine->invocations, key, sizeof key, invocation);
  if (!invocation || invocation->executor != executor) return;
  struct outcome outcome = {.error = msg->error};
  if (!msg->error && !yyjson_is_null(msg->result)) outcome.value = msg->result;
  if (msg->traceparent) {
    free(invocation->traceparent);
    invocation->traceparent = cr_strdup(msg->traceparent);
  }
  if (msg->baggage) {
    free(invocation->baggage);
    invocation->baggage = cr_strdup(msg->baggage);
  }
  cr_answer(invocation, &outcome);
}

static void on_internal_alarm(struct cr_alarm *alarm) {
  struct invocation *invocation = cr_list_item(alarm, struct invocation, alarm);
  cr_answer_error(invocation, "TIMEOUT", "invocation timed out after %dms", INTERNAL_MS);
}

void cr_invoke_internal(struct cr_engine *engine, const char *name_space, const char *function_id, const char *data,
                        size_t length, const char *metadata, invocation_done *done, void *of) {
  struct invocation *invocation = create(engine, NULL, NULL, function_id);
  invocation->done = done;
  invocation->of = of;
  invocation->alarm.ring = on_internal_alarm;
  cr_alarm_set(engine->alarms, &invocation->alarm, INTERNAL_MS);
  dispatch(invocation, name_space, data, length, metadata);
}

void cr_invocations_stop(struct peer *peer) {
  while (!cr_list_empty(&peer->executing)) {
    struct invocation *invocation = cr_list_item(peer->executing.next, struct invocation, executor_link);
    if (invocation->caller == peer) drop_caller(invocation);
    cr_answer_error(invocation, "invocation_stopped", "Invocation stopped");
  }
  // Builtins that answer later, and other executors, find nobody to answer to.
  while (!cr_list_empty(&peer->calling)) drop_caller(cr_list_item(peer->calling.next, struct invocation, caller_link));
}
