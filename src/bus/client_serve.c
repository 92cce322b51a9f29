#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bus/client_internal.h"

struct invocation {
  struct cr_bus_invocation shown;
  struct cr_list link;  // in bus->serving while `bus` is not NULL
  struct cr_bus *bus;
  char *invocation_id;  // NULL: nobody waits for the answer
};

int cr_bus_register(struct cr_bus *bus, const struct cr_bus_function *function, cr_bus_handler *handler, void *of,
                    struct cr_error *err) {
  struct cr_writer writer = cr_bus_frame(bus, "registerfunction");
  cr_write_text(&writer, "id", function->id);
  cr_write_text(&writer, "description", function->description);
  const char *request = function->request_format, *response = function->response_format, *metadata = function->metadata;
  if (request) cr_write_json(&writer, "request_format", request, strlen(request));
  if (response) cr_write_json(&writer, "response_format", response, strlen(response));
  if (metadata) cr_write_json(&writer, "metadata", metadata, strlen(metadata));
  struct announcement announcement;
  if (cr_bus_frame_keep(bus, &writer, &announcement, err)) return -1;
  struct served_function *served = NULL;
  HASH_FIND_STR(bus->functions, function->id, served);
  if (!served) {
    served = cr_alloc(sizeof *served);
    served->id = cr_strdup(function->id);
    HASH_ADD_KEYPTR(hh, bus->functions, served->id, strlen(served->id), served);
  }
  free(served->announcement.frame);
  served->announcement = announcement;
  served->handler = handler;
  served->of = of;
  cr_bus_announce(bus, &served->announcement);
  return 0;
}

static void function_free(struct cr_bus *bus, struct served_function *served) {
  HASH_DEL(bus->functions, served);
  free(served->announcement.frame);
  free(served->id);
  free(served);
}

int cr_bus_unregister(struct cr_bus *bus, const char *id) {
  struct served_function *served = NULL;
  HASH_FIND_STR(bus->functions, id, served);
  if (!served) return 0;
  struct cr_writer writer = cr_bus_frame(bus, "unregisterfunction");
  cr_write_text(&writer, "id", id);
  cr_bus_frame_send(bus, &writer);
  function_free(bus, served);
  return 1;
}

void cr_bus_functions_free(struct cr_bus *bus) {
  struct served_function *served, *next;
  HASH_ITER(hh, bus->functions, served, next) function_free(bus, served);
}

static char *copied(const char *text) { return text ? cr_strdup(text) : NULL; }

static char *value_text(yyjson_val *value, size_t *length) {
  char *text = value ? yyjson_val_write(value, YYJSON_WRITE_NOFLAG, length) : NULL;
  if (value && !text) cr_out_of_memory();
  return text;
}

static struct invocation *invocation_create(struct cr_bus *bus, const struct cr_msg *msg) {
  struct invocation *invocation = cr_alloc(sizeof *invocation);
  struct cr_bus_invocation *shown = &invocation->shown;
  shown->function_id = cr_strdup(msg->function_id);
  shown->payload = msg->data ? value_text(msg->data, &shown->payload_length) : cr_strdup("null");
  if (!msg->data) shown->payload_length = 4;
  shown->metadata = value_text(msg->metadata, &shown->metadata_length);
  shown->traceparent = copied(msg->traceparent);
  shown->baggage = copied(msg->baggage);
  invocation->invocation_id = copied(msg->invocation_id);
  invocation->bus = bus;
  cr_list_append(&bus->serving, &invocation->link);
  bus->serving_count++;
  return invocation;
}

static void invocation_detach(struct invocation *invocation) {
  cr_list_remove(&invocation->link);
  invocation->bus->serving_count--;
  invocation->bus = NULL;
}

static void invocation_free(struct invocation *invocation) {
  if (invocation->bus) invocation_detach(invocation);
  free((char *)invocation->shown.function_id);
  free((char *)invocation->shown.payload);
  free((char *)invocation->shown.metadata);
  free((char *)invocation->shown.traceparent);
  free((char *)invocation->shown.baggage);
  free(invocation->invocation_id);
  free(invocation);
}

static struct cr_writer answer_open(const struct invocation *invocation) {
  struct cr_writer writer = cr_bus_frame(invocation->bus, "invocationresult");
  cr_write_text(&writer, "invocation_id", invocation->invocation_id);
  cr_write_text(&writer, "function_id", invocation->shown.function_id);
  return writer;
}

static int answer_send(const struct invocation *invocation, struct cr_writer *writer) {
  cr_write_text(writer, "traceparent", invocation->shown.traceparent);
  cr_write_text(writer, "baggage", invocation->shown.baggage);
  return cr_bus_frame_send(invocation->bus, writer);
}

static int wanted(const struct invocation *invocation) {
  return invocation->bus && invocation->bus->linked && invocation->invocation_id;
}

static void send_error(const struct invocation *invocation, const char *code, const char *message) {
  if (!wanted(invocation)) return;
  struct cr_writer writer = answer_open(invocation);
  cr_msg_write_error(&writer, code, message, NULL);
  if (!writer.failed) {
    answer_send(invocation, &writer);
    return;
  }
  writer = answer_open(invocation);
  cr_msg_write_error(&writer, CR_BUS_TOO_LARGE, "the error is longer than a message of the bus may be", NULL);
  answer_send(invocation, &writer);
}

void cr_bus_reply(struct cr_bus_invocation *shown, const char *json, size_t length) {
  struct invocation *invocation = (struct invocation *)shown;
  if (wanted(invocation)) {
    struct cr_writer writer = answer_open(invocation);
    cr_write_json(&writer, "result", json, length);
    if (!writer.failed)
      answer_send(invocation, &writer);
    else
      send_error(invocation, CR_BUS_TOO_LARGE,
                 "the result is longer than the 16 MiB that a message of the bus may have");
  }
  invocation_free(invocation);
}

void cr_bus_reply_error(struct cr_bus_invocation *shown, const char *code, const char *message) {
  struct invocation *invocation = (struct invocation *)shown;
  send_error(invocation, code, message);
  invocation_free(invocation);
}

void cr_bus_serve(struct cr_bus *bus, const struct cr_msg *msg) {
  struct served_function *served = NULL;
  HASH_FIND_STR(bus->functions, msg->function_id, served);
  struct invocation *invocation = invocation_create(bus, msg);
  if (!served)
    cr_bus_reply_error(&invocation->shown, "function_not_found", "Function not found");
  else if (bus->serving_count > CR_BUS_SERVING_MAX)
    cr_bus_reply_error(&invocation->shown, CR_BUS_OVERLOADED, "too many calls are waiting in this worker");
  else
    served->handler(served->of, &invocation->shown);
}

void cr_bus_serving_stop(struct cr_bus *bus) {
  while (!cr_list_empty(&bus->serving)) {
    struct invocation *invocation = cr_list_item(bus->serving.next, struct invocation, link);
    send_error(invocation, CR_BUS_STOPPED, "the worker is shutting down");
    invocation_detach(invocation);
  }
}
