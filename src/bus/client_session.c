#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "bus/client_internal.h"

struct cr_writer cr_bus_frame(struct cr_bus *bus, const char *type) {
  bus->frame.len = 0;
  if (bus->frame.cap > 1u << 20) cr_buf_free(&bus->frame);
  return cr_msg_open(&bus->frame, type);
}

int cr_bus_frame_send(struct cr_bus *bus, struct cr_writer *writer) {
  if (cr_writer_close(writer) || !bus->linked) return -1;
  return bus->link.send(bus->link.of, bus->frame.data, bus->frame.len);
}

int cr_bus_frame_keep(struct cr_bus *bus, struct cr_writer *writer, struct announcement *announcement,
                      struct cr_error *err) {
  if (cr_writer_close(writer))
    return cr_error_set(err, CR_INVALID_REQUEST, "the registration is longer than a message of the bus may be");
  announcement->frame = cr_strndup((const char *)bus->frame.data, bus->frame.len);
  announcement->length = bus->frame.len;
  return 0;
}

void cr_bus_announce(struct cr_bus *bus, const struct announcement *announcement) {
  if (bus->linked) bus->link.send(bus->link.of, announcement->frame, announcement->length);
}

void cr_bus_state_set(struct cr_bus *bus, enum cr_bus_state state, const char *why) {
  bus->state = state;
  if (bus->events.state && !bus->closing) bus->events.state(bus->of, state, why);
}

static void send_reattach(struct cr_bus *bus) {
  if (!bus->worker_id[0]) return;
  struct cr_writer writer = cr_bus_frame(bus, "reattach");
  cr_write_text(&writer, "previous_worker_id", bus->worker_id);
  cr_write_text(&writer, "reattach_token", bus->token[0] ? bus->token : NULL);
  cr_bus_frame_send(bus, &writer);
}

// The metadata call (spec 3.2): it fixes the namespace, so it goes before all registrations.
static void send_metadata(struct cr_bus *bus) {
  struct utsname host;
  char os[256] = "linux", pid[16];
  if (!uname(&host)) snprintf(os, sizeof os, "linux %s (%s)", host.release, host.machine);
  snprintf(pid, sizeof pid, "%ld", (long)getpid());
  struct cr_writer writer = cr_bus_frame(bus, "invokefunction");
  cr_write_text(&writer, "function_id", "engine::workers::register");
  cr_write_json(&writer, "data", "", 0);
  if (!writer.failed) {
    struct cr_writer data = cr_writer_open(&bus->frame);
    cr_write_text(&data, "runtime", "c");
    cr_write_text(&data, "version", bus->version);
    cr_write_text(&data, "name", bus->name);
    cr_write_text(&data, "description", bus->description);
    cr_write_text(&data, "os", os);
    cr_write_json(&data, "pid", pid, strlen(pid));
    cr_write_text(&data, "isolation", getenv("III_ISOLATION"));
    cr_write_text(&data, "namespace", bus->name_space);
    cr_writer_close(&data);
  }
  static const char one_way[] = "{\"type\":\"void\"}";
  cr_write_json(&writer, "action", one_way, sizeof one_way - 1);
  cr_write_text(&writer, "namespace", "default");
  cr_bus_frame_send(bus, &writer);
}

void cr_bus_opened(struct cr_bus *bus) {
  bus->linked = 1;
  send_reattach(bus);
  send_metadata(bus);
  struct own_type *type, *next_type;
  HASH_ITER(hh, bus->types, type, next_type) cr_bus_announce(bus, &type->announcement);
  struct served_function *function, *next_function;
  HASH_ITER(hh, bus->functions, function, next_function) cr_bus_announce(bus, &function->announcement);
  struct own_trigger *trigger, *next_trigger;
  HASH_ITER(hh, bus->triggers, trigger, next_trigger) cr_bus_announce(bus, &trigger->announcement);
  cr_bus_calls_flush(bus);
  cr_bus_state_set(bus, CR_BUS_CONNECTED, NULL);
}

void cr_bus_lost(struct cr_bus *bus, const char *why) {
  bus->linked = 0;
  cr_bus_serving_stop(bus);
  cr_bus_acks_stop(bus);
  cr_bus_calls_fail(bus, 0, CR_BUS_STOPPED, "the connection to the engine was lost");
  if (bus->state != CR_BUS_FAILED) cr_bus_state_set(bus, CR_BUS_WAITING, why);
}

static void take_identity(struct cr_bus *bus, const struct cr_msg *msg) {
  const char *token = msg->reattach_token ? msg->reattach_token : "";
  if (strlen(msg->worker_id) >= sizeof bus->worker_id || strlen(token) >= sizeof bus->token) return;
  snprintf(bus->worker_id, sizeof bus->worker_id, "%s", msg->worker_id);
  snprintf(bus->token, sizeof bus->token, "%s", token);
}

static void take_rejection(struct cr_bus *bus, const struct cr_msg *msg) {
  struct cr_bus_conflict conflict = {msg->code, msg->name_space, msg->function_id, msg->worker_name,
                                     msg->owner_worker_id};
  if (bus->events.conflict) bus->events.conflict(bus->of, &conflict);
  if (!strcmp(msg->code, "FUNCTION_NAMESPACE_CONFLICT") || bus->state == CR_BUS_FAILED) return;
  bus->linked = 0;
  cr_bus_calls_fail(bus, 1, CR_BUS_STOPPED, "the engine refused this worker");
  cr_bus_state_set(bus, CR_BUS_FAILED, msg->code);
  if (bus->link.end) bus->link.end(bus->link.of);
}

static void take_refusal(struct cr_bus *bus, const struct cr_msg *msg) {
  if (!msg->error || !bus->events.trigger_refused) return;
  bus->events.trigger_refused(bus->of, msg->id, msg->trigger_type, yyjson_get_str(yyjson_obj_get(msg->error, "code")),
                              yyjson_get_str(yyjson_obj_get(msg->error, "message")));
}

static void send_pong(struct cr_bus *bus) {
  struct cr_writer writer = cr_bus_frame(bus, "pong");
  cr_bus_frame_send(bus, &writer);
}

void cr_bus_take(struct cr_bus *bus, const char *text, size_t length) {
  struct cr_msg msg;
  const char *why = NULL;
  if (cr_msg_decode(&msg, text, length, &why)) {
    cr_log(CR_LOG_DEBUG, "bus: a message of the engine is ignored: %s", why);
    return;
  }
  switch (msg.type) {
    case CR_MSG_WORKER_REGISTERED: take_identity(bus, &msg); break;
    case CR_MSG_INVOKE: cr_bus_serve(bus, &msg); break;
    case CR_MSG_RESULT: cr_bus_calls_result(bus, &msg); break;
    case CR_MSG_REGISTER_TRIGGER: cr_bus_trigger_bound(bus, &msg); break;
    case CR_MSG_UNREGISTER_TRIGGER: cr_bus_trigger_unbound(bus, &msg); break;
    case CR_MSG_TRIGGER_RESULT: take_refusal(bus, &msg); break;
    case CR_MSG_REJECTED: take_rejection(bus, &msg); break;
    case CR_MSG_PING: send_pong(bus); break;
    default: break;
  }
  cr_msg_free(&msg);
}
