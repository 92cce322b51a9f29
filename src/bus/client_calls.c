#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/json.h"
#include "bus/client_internal.h"

struct call {
  struct cr_bus *bus;
  uint8_t id[16];
  uint64_t number;
  UT_hash_handle hh, by_number;
  struct cr_list link;  // in bus->queue while `frame` is there
  char *frame;          // waits for a connection
  size_t frame_length;
  uint64_t timeout_ms;
  struct cr_alarm alarm;
  const char *code, *message;  // of a failure that is still to be told
  int one_way;                 // void: nothing will come back
  int done;                    // and its frame is on its way
  cr_bus_answer *answer;
  void *of;
};

static void unqueue(struct call *call) {
  if (!call->frame) return;
  cr_list_remove(&call->link);
  call->bus->queue_bytes -= call->frame_length;
  free(call->frame);
  call->frame = NULL;
}

static void forget(struct call *call) {
  struct cr_bus *bus = call->bus;
  HASH_DELETE(hh, bus->calls, call);
  HASH_DELETE(by_number, bus->by_number, call);
  cr_alarm_clear(bus->alarms, &call->alarm);
  unqueue(call);
}

static void finish(struct call *call, const char *result, size_t length, const struct cr_bus_failure *failure) {
  forget(call);
  call->answer(call->of, result, length, failure);
  free(call);
}

static void on_alarm(struct cr_alarm *alarm) {
  struct call *call = cr_list_item(alarm, struct call, alarm);
  if (call->done) {
    finish(call, NULL, 0, NULL);
    return;
  }
  char text[64];
  snprintf(text, sizeof text, "invocation timed out after %" PRIu64 "ms", call->timeout_ms);
  struct cr_bus_failure failure = {call->code ? call->code : CR_BUS_TIMED_OUT, call->code ? call->message : text, NULL};
  finish(call, NULL, 0, &failure);
}

static void tell_later(struct call *call, const char *code, const char *message) {
  call->code = code;
  call->message = message;
  unqueue(call);
  cr_alarm_set(call->bus->alarms, &call->alarm, 0);
}

static void done_later(struct call *call) {
  call->done = 1;
  unqueue(call);
  cr_alarm_set(call->bus->alarms, &call->alarm, 0);
}

static int is_void(const char *action) {
  if (!action) return 0;
  yyjson_doc *doc = cr_json_parse(action, strlen(action), NULL);
  int found = yyjson_equals_str(yyjson_obj_get(yyjson_doc_get_root(doc), "type"), "void");
  yyjson_doc_free(doc);
  return found;
}

static const char *namespace_of(const struct cr_bus *bus, const struct cr_bus_request *request) {
  if (request->name_space) return request->name_space;
  return strncmp(request->function_id, "engine::", 8) ? bus->name_space : "default";
}

static struct cr_writer frame_open(struct cr_bus *bus, const struct cr_bus_request *request, const char *id) {
  struct cr_writer writer = cr_bus_frame(bus, "invokefunction");
  cr_write_text(&writer, "invocation_id", id);
  cr_write_text(&writer, "function_id", request->function_id);
  cr_write_json(&writer, "data", request->payload, request->payload_length);
  if (request->action) cr_write_json(&writer, "action", request->action, strlen(request->action));
  if (request->metadata) cr_write_json(&writer, "metadata", request->metadata, strlen(request->metadata));
  cr_write_text(&writer, "namespace", namespace_of(bus, request));
  cr_write_text(&writer, "traceparent", request->traceparent);
  cr_write_text(&writer, "baggage", request->baggage);
  cr_writer_close(&writer);
  return writer;
}

static void enqueue(struct call *call) {
  struct cr_bus *bus = call->bus;
  if (bus->queue_bytes + bus->frame.len > CR_BUS_QUEUE_MAX) {
    tell_later(call, CR_BUS_QUEUE_FULL, "the engine is away and too many calls are waiting for it");
    return;
  }
  call->frame_length = bus->frame.len;
  call->frame = cr_strndup((const char *)bus->frame.data, bus->frame.len);
  bus->queue_bytes += call->frame_length;
  cr_list_append(&bus->queue, &call->link);
}

uint64_t cr_bus_call(struct cr_bus *bus, const struct cr_bus_request *request, cr_bus_answer *answer, void *of) {
  char id[CR_UUID_SIZE];
  cr_uuid(id);
  struct call *call = cr_alloc(sizeof *call);
  *call = (struct call){.bus = bus,
                        .number = ++bus->last_number,
                        .timeout_ms = request->timeout_ms ? request->timeout_ms : CR_BUS_TIMEOUT_MS,
                        .alarm = {.ring = on_alarm},
                        .answer = answer,
                        .of = of};
  call->one_way = is_void(request->action);
  cr_uuid_read(id, call->id);
  cr_list_init(&call->link);
  HASH_ADD(hh, bus->calls, id, sizeof call->id, call);
  HASH_ADD(by_number, bus->by_number, number, sizeof call->number, call);
  cr_alarm_set(bus->alarms, &call->alarm, call->timeout_ms);
  struct cr_writer writer = frame_open(bus, request, call->one_way ? NULL : id);
  if (bus->closing || bus->state == CR_BUS_FAILED)
    tell_later(call, CR_BUS_STOPPED, "the connection to the engine is closed");
  else if (writer.failed)
    tell_later(call, CR_BUS_TOO_LARGE, "the call is longer than the 16 MiB that a message of the bus may have");
  else if (!bus->linked || bus->link.send(bus->link.of, bus->frame.data, bus->frame.len))
    enqueue(call);
  else if (call->one_way)
    done_later(call);
  return call->number;
}

void cr_bus_cancel(struct cr_bus *bus, uint64_t number) {
  struct call *call = NULL;
  HASH_FIND(by_number, bus->by_number, &number, sizeof number, call);
  if (!call) return;
  forget(call);
  free(call);
}

void cr_bus_calls_flush(struct cr_bus *bus) {
  while (bus->linked && !cr_list_empty(&bus->queue)) {
    struct call *call = cr_list_item(bus->queue.next, struct call, link);
    if (bus->link.send(bus->link.of, call->frame, call->frame_length)) return;
    if (call->one_way)
      done_later(call);
    else
      unqueue(call);
  }
}

static void deliver(struct call *call, const struct cr_msg *msg) {
  if (msg->error) {
    struct cr_bus_failure failure = {yyjson_get_str(yyjson_obj_get(msg->error, "code")),
                                     yyjson_get_str(yyjson_obj_get(msg->error, "message")),
                                     yyjson_get_str(yyjson_obj_get(msg->error, "stacktrace"))};
    finish(call, NULL, 0, &failure);
    return;
  }
  size_t length = 0;
  char *text = msg->result ? yyjson_val_write(msg->result, YYJSON_WRITE_NOFLAG, &length) : NULL;
  if (msg->result && !text) cr_out_of_memory();
  finish(call, text, length, NULL);
  free(text);
}

void cr_bus_calls_result(struct cr_bus *bus, const struct cr_msg *msg) {
  uint8_t id[16];
  struct call *call = NULL;
  if (!cr_uuid_read(msg->invocation_id, id)) HASH_FIND(hh, bus->calls, id, sizeof id, call);
  if (call && !call->code && !call->one_way && !call->frame) deliver(call, msg);
}

void cr_bus_calls_fail(struct cr_bus *bus, int queued, const char *code, const char *message) {
  struct call *call, *next;
  HASH_ITER(hh, bus->calls, call, next)
  if (!call->code && !call->done && (queued || !call->frame)) tell_later(call, code, message);
}
