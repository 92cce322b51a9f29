#include "bus/message.h"

#include <stddef.h>
#include <string.h>

#include "base/json.h"

enum kind { TEXT, UUID, ANY, ANY_OR_NULL, ERROR_BODY, ACTION };

struct field {
  const char *name;
  enum kind kind;
  int required;
  size_t offset;
};

#define FIELD(json, what, need, member) {json, what, need, offsetof(struct cr_msg, member)}
#define FIELDS(name, ...) static const struct field name[] = {__VA_ARGS__, {NULL, TEXT, 0, 0}}

#define ID FIELD("id", TEXT, 1, id)
#define FUNCTION FIELD("function_id", TEXT, 1, function_id)
#define NAMESPACE FIELD("namespace", TEXT, 0, name_space)
#define METADATA FIELD("metadata", ANY, 0, metadata)
#define TRACE FIELD("traceparent", TEXT, 0, traceparent), FIELD("baggage", TEXT, 0, baggage)
#define TOKEN FIELD("reattach_token", TEXT, 0, reattach_token)

FIELDS(register_function, ID, FIELD("description", TEXT, 0, description),
       FIELD("request_format", ANY, 0, request_format), FIELD("response_format", ANY, 0, response_format), METADATA,
       FIELD("invocation", ANY, 0, invocation));
FIELDS(only_id, ID);
FIELDS(register_trigger_type, ID, FIELD("description", TEXT, 1, description),
       FIELD("trigger_request_format", ANY, 0, request_format), FIELD("call_request_format", ANY, 0, response_format),
       NAMESPACE);
FIELDS(register_trigger, ID, FIELD("trigger_type", TEXT, 1, trigger_type), FUNCTION,
       FIELD("config", ANY_OR_NULL, 1, config), METADATA, NAMESPACE,
       FIELD("trigger_namespace", TEXT, 0, trigger_namespace));
FIELDS(trigger_result, ID, FIELD("trigger_type", TEXT, 1, trigger_type), FUNCTION,
       FIELD("error", ERROR_BODY, 0, error));
FIELDS(unregister_trigger, ID, FIELD("trigger_type", TEXT, 0, trigger_type));
// A missing `data` is null to us (spec 2); a real engine drops the frame.
FIELDS(invoke, FIELD("invocation_id", UUID, 0, invocation_id), FUNCTION, FIELD("data", ANY_OR_NULL, 0, data),
       FIELD("action", ACTION, 0, action), METADATA, NAMESPACE, TRACE);
FIELDS(result, FIELD("invocation_id", UUID, 1, invocation_id), FUNCTION, FIELD("result", ANY_OR_NULL, 0, result),
       FIELD("error", ERROR_BODY, 0, error), TRACE);
FIELDS(reattach, FIELD("previous_worker_id", TEXT, 1, previous_worker_id), TOKEN);
FIELDS(worker_registered, FIELD("worker_id", TEXT, 1, worker_id), TOKEN);
FIELDS(rejected, FIELD("code", TEXT, 1, code), FIELD("namespace", TEXT, 1, name_space),
       FIELD("owner_worker_id", TEXT, 1, owner_worker_id), FIELD("worker_name", TEXT, 0, worker_name),
       FIELD("function_id", TEXT, 0, function_id));
FIELDS(refusal, FIELD("error", ERROR_BODY, 0, error));
static const struct field none[] = {{NULL, TEXT, 0, 0}};

static const struct {
  const char *name;
  const struct field *fields;
} types[] = {
    [CR_MSG_REGISTER_FUNCTION] = {"registerfunction", register_function},
    [CR_MSG_UNREGISTER_FUNCTION] = {"unregisterfunction", only_id},
    [CR_MSG_REGISTER_TRIGGER_TYPE] = {"registertriggertype", register_trigger_type},
    [CR_MSG_UNREGISTER_TRIGGER_TYPE] = {"unregistertriggertype", only_id},
    [CR_MSG_REGISTER_TRIGGER] = {"registertrigger", register_trigger},
    [CR_MSG_TRIGGER_RESULT] = {"triggerregistrationresult", trigger_result},
    [CR_MSG_UNREGISTER_TRIGGER] = {"unregistertrigger", unregister_trigger},
    [CR_MSG_INVOKE] = {"invokefunction", invoke},
    [CR_MSG_RESULT] = {"invocationresult", result},
    [CR_MSG_REGISTER_SERVICE] = {"registerservice", only_id},
    [CR_MSG_PING] = {"ping", none},
    [CR_MSG_PONG] = {"pong", none},
    [CR_MSG_REATTACH] = {"reattach", reattach},
    [CR_MSG_WORKER_REGISTERED] = {"workerregistered", worker_registered},
    [CR_MSG_REJECTED] = {"registrationrejected", rejected},
    [CR_MSG_ERROR] = {"error", refusal},
};
#define TYPES (sizeof types / sizeof *types)

int cr_uuid_read(const char *text, uint8_t bytes[16]) {
  if (strlen(text) != 36) return -1;
  int nibble = 0;
  for (int i = 0; i < 36; i++) {
    char c = text[i];
    int dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash != (c == '-')) return -1;
    if (dash) continue;
    int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    if (digit < 0) return -1;
    bytes[nibble / 2] = (uint8_t)(nibble % 2 ? bytes[nibble / 2] | digit : digit << 4);
    nibble++;
  }
  return 0;
}

static const char *text_of(yyjson_val *value) {
  const char *text = yyjson_get_str(value);
  return text && strlen(text) == yyjson_get_len(value) ? text : NULL;
}

// Duplicate keys: the last one wins (spec 1).
static yyjson_val *member(yyjson_val *object, const char *name) {
  yyjson_val *found = NULL, *key, *value;
  size_t index, count;
  yyjson_obj_foreach(object, index, count, key, value) if (yyjson_equals_str(key, name)) found = value;
  return found;
}

static int is_error_body(yyjson_val *value) {
  yyjson_val *trace = member(value, "stacktrace");
  return text_of(member(value, "code")) && yyjson_is_str(member(value, "message")) &&
         (!trace || yyjson_is_null(trace) || yyjson_is_str(trace));
}

static int read_action(struct cr_msg *msg, yyjson_val *value) {
  yyjson_val *type = member(value, "type");
  if (yyjson_equals_str(type, "void")) {
    msg->action = CR_ACTION_VOID;
    return 0;
  }
  if (!yyjson_equals_str(type, "enqueue")) return -1;
  msg->action = CR_ACTION_ENQUEUE;
  msg->queue = text_of(member(value, "queue"));
  return msg->queue ? 0 : -1;
}

static int read_field(struct cr_msg *msg, const struct field *field, yyjson_val *value) {
  void *at = (char *)msg + field->offset;
  uint8_t uuid[16];
  switch (field->kind) {
    case TEXT: return (*(const char **)at = text_of(value)) ? 0 : -1;
    case UUID: return (*(const char **)at = text_of(value)) && !cr_uuid_read(*(const char **)at, uuid) ? 0 : -1;
    case ACTION: return read_action(msg, value);
    case ERROR_BODY:
      if (!is_error_body(value)) return -1;
      // fall through
    case ANY:
    case ANY_OR_NULL: *(yyjson_val **)at = value; return 0;
  }
  return -1;
}

// A message has at most a dozen members that matter, but a peer may send any number: they are walked once.
static int read_fields(struct cr_msg *msg, const struct field *fields, yyjson_val *root, const char **why) {
  yyjson_val *key, *value;
  size_t index, count;
  unsigned seen = 0;
  yyjson_obj_foreach(root, index, count, key, value) {
    for (unsigned i = 0; fields[i].name; i++) {
      if (!yyjson_equals_str(key, fields[i].name)) continue;
      int absent = yyjson_is_null(value) && fields[i].kind != ANY_OR_NULL;
      if (absent && !fields[i].required) break;
      if (absent || read_field(msg, &fields[i], value)) {
        *why = "a field has the wrong type";
        return -1;
      }
      seen |= 1u << i;
      break;
    }
  }
  for (unsigned i = 0; fields[i].name; i++)
    if (fields[i].required && !(seen & 1u << i)) {
      *why = "a required field is missing";
      return -1;
    }
  return 0;
}

static int read_message(struct cr_msg *msg, yyjson_val *root, const char **why) {
  if (!yyjson_is_obj(root)) {
    *why = "not an object";
    return -1;
  }
  yyjson_val *type = member(root, "type");
  for (size_t i = 0; i < TYPES; i++)
    if (yyjson_equals_str(type, types[i].name)) {
      msg->type = (enum cr_msg_type)i;
      return read_fields(msg, types[i].fields, root, why);
    }
  *why = "unknown type";
  return -1;
}

int cr_msg_decode(struct cr_msg *msg, const char *text, size_t length, const char **why) {
  *msg = (struct cr_msg){0};
  if (cr_json_depth(text, length) > CR_BUS_DEPTH_MAX) {
    *why = "nested too deep";
    return -1;
  }
  msg->doc = yyjson_read_opts((char *)text, length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  if (!msg->doc) {
    *why = "not JSON";
    return -1;
  }
  if (!read_message(msg, yyjson_doc_get_root(msg->doc), why)) return 0;
  cr_msg_free(msg);
  return -1;
}

void cr_msg_free(struct cr_msg *msg) {
  yyjson_doc_free(msg->doc);
  msg->doc = NULL;
}

struct cr_writer cr_msg_open(struct cr_buf *buf, const char *type) {
  struct cr_writer writer = cr_writer_open(buf);
  cr_write_text(&writer, "type", type);
  return writer;
}

void cr_msg_write_error(struct cr_writer *writer, const char *code, const char *message, const char *stacktrace) {
  cr_write_json(writer, "error", "", 0);
  if (writer->failed) return;
  struct cr_writer body = cr_writer_open(writer->buf);
  cr_write_text(&body, "code", code);
  cr_write_text(&body, "message", message);
  cr_write_text(&body, "stacktrace", stacktrace);
  writer->failed |= cr_writer_close(&body);
}

void cr_msg_copy_error(struct cr_writer *writer, yyjson_val *error) {
  cr_write_json(writer, "error", "", 0);
  if (writer->failed) return;
  struct cr_writer body = cr_writer_open(writer->buf);
  cr_write_value(&body, "code", member(error, "code"));
  cr_write_value(&body, "message", member(error, "message"));
  yyjson_val *trace = member(error, "stacktrace");
  if (yyjson_is_str(trace)) cr_write_value(&body, "stacktrace", trace);
  writer->failed |= cr_writer_close(&body);
}
