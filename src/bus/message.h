// Messages of the iii bus coming in (spec 2): one JSON object a message, decoded strictly and without any socket. Texts
// of peers are untrusted. Numbers inside values are never converted: they leave as they came.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "bus/writer.h"

#define CR_BUS_DEPTH_MAX 128  // nesting of one message (spec 1)

enum cr_msg_type {
  CR_MSG_REGISTER_FUNCTION,
  CR_MSG_UNREGISTER_FUNCTION,
  CR_MSG_REGISTER_TRIGGER_TYPE,
  CR_MSG_UNREGISTER_TRIGGER_TYPE,
  CR_MSG_REGISTER_TRIGGER,
  CR_MSG_TRIGGER_RESULT,
  CR_MSG_UNREGISTER_TRIGGER,
  CR_MSG_INVOKE,
  CR_MSG_RESULT,
  CR_MSG_REGISTER_SERVICE,
  CR_MSG_PING,
  CR_MSG_PONG,
  CR_MSG_REATTACH,
  CR_MSG_WORKER_REGISTERED,
  CR_MSG_REJECTED,
  CR_MSG_ERROR,
};

enum cr_msg_action { CR_ACTION_CALL, CR_ACTION_VOID, CR_ACTION_ENQUEUE };

// Members that the message does not have, or has as null, are NULL, except `data`, `config` and `result`, which may be
// a JSON null. Texts hold no NUL. Everything points into `doc`.
struct cr_msg {
  enum cr_msg_type type;
  yyjson_doc *doc;
  const char *id, *function_id, *trigger_type, *description;
  const char *name_space, *trigger_namespace;
  const char *invocation_id, *traceparent, *baggage;
  const char *worker_id, *previous_worker_id, *reattach_token;
  const char *code, *owner_worker_id, *worker_name, *queue;
  yyjson_val *request_format, *response_format;  // or a trigger type's two formats
  yyjson_val *metadata, *invocation, *config, *data, *result;
  yyjson_val *error;  // an ErrorBody: code and message are strings, stacktrace too or absent or null
  enum cr_msg_action action;
};

// 0, or -1 when it is to be ignored; `why` is then a static text for the log. `msg` needs cr_msg_free only after 0.
int cr_msg_decode(struct cr_msg *msg, const char *text, size_t length, const char **why);
void cr_msg_free(struct cr_msg *msg);

// Starts a message with its "type" member.
struct cr_writer cr_msg_open(struct cr_buf *buf, const char *type);
// An ErrorBody under "error"; `stacktrace` may be NULL.
void cr_msg_write_error(struct cr_writer *writer, const char *code, const char *message, const char *stacktrace);
// The ErrorBody of a peer, without members that are not its own; a null stacktrace is left out (spec 11.3).
void cr_msg_copy_error(struct cr_writer *writer, yyjson_val *error);

// The 16 bytes of a hyphenated UUID; -1 when `text` is none.
int cr_uuid_read(const char *text, uint8_t bytes[16]);
