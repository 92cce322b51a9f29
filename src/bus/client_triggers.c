#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "bus/client_internal.h"

#define BINDINGS_MAX 65536

struct cr_bus_ack {
  struct cr_list link;  // in bus->acks while `bus` is not NULL
  struct cr_bus *bus;
  char *id, *trigger_type, *function_id;
};

static void write_json(struct cr_writer *writer, const char *name, const char *json) {
  if (json) cr_write_json(writer, name, json, strlen(json));
}

int cr_bus_bind(struct cr_bus *bus, const struct cr_bus_trigger *trigger, char id[37], struct cr_error *err) {
  char fresh[CR_UUID_SIZE];
  if (!trigger->id) cr_uuid(fresh);
  const char *name = trigger->id ? trigger->id : fresh;
  struct cr_writer writer = cr_bus_frame(bus, "registertrigger");
  cr_write_text(&writer, "id", name);
  cr_write_text(&writer, "trigger_type", trigger->trigger_type);
  cr_write_text(&writer, "function_id", trigger->function_id);
  write_json(&writer, "config", trigger->config ? trigger->config : "null");
  write_json(&writer, "metadata", trigger->metadata);
  cr_write_text(&writer, "namespace", trigger->name_space ? trigger->name_space : bus->name_space);
  cr_write_text(&writer, "trigger_namespace", trigger->trigger_namespace);
  struct announcement announcement;
  if (cr_bus_frame_keep(bus, &writer, &announcement, err)) return -1;
  struct own_trigger *own = NULL;
  HASH_FIND_STR(bus->triggers, name, own);
  if (!own) {
    own = cr_alloc(sizeof *own);
    own->id = cr_strdup(name);
    HASH_ADD_KEYPTR(hh, bus->triggers, own->id, strlen(own->id), own);
  }
  free(own->announcement.frame);
  own->announcement = announcement;
  if (id && !trigger->id) memcpy(id, fresh, sizeof fresh);
  cr_bus_announce(bus, &own->announcement);
  return 0;
}

static void trigger_free(struct cr_bus *bus, struct own_trigger *own) {
  HASH_DEL(bus->triggers, own);
  free(own->announcement.frame);
  free(own->id);
  free(own);
}

int cr_bus_unbind(struct cr_bus *bus, const char *id) {
  struct own_trigger *own = NULL;
  HASH_FIND_STR(bus->triggers, id, own);
  if (!own) return 0;
  struct cr_writer writer = cr_bus_frame(bus, "unregistertrigger");
  cr_write_text(&writer, "id", id);
  cr_bus_frame_send(bus, &writer);
  trigger_free(bus, own);
  return 1;
}

int cr_bus_provide(struct cr_bus *bus, const struct cr_bus_trigger_type *type, const struct cr_bus_provider *provider,
                   void *of, struct cr_error *err) {
  struct cr_writer writer = cr_bus_frame(bus, "registertriggertype");
  cr_write_text(&writer, "id", type->id);
  cr_write_text(&writer, "description", type->description ? type->description : "");
  write_json(&writer, "trigger_request_format", type->config_format);
  write_json(&writer, "call_request_format", type->payload_format);
  struct announcement announcement;
  if (cr_bus_frame_keep(bus, &writer, &announcement, err)) return -1;
  struct own_type *own = NULL;
  HASH_FIND_STR(bus->types, type->id, own);
  if (!own) {
    own = cr_alloc(sizeof *own);
    own->id = cr_strdup(type->id);
    HASH_ADD_KEYPTR(hh, bus->types, own->id, strlen(own->id), own);
  }
  free(own->announcement.frame);
  own->announcement = announcement;
  own->provider = *provider;
  own->of = of;
  cr_bus_announce(bus, &own->announcement);
  return 0;
}

static void type_free(struct cr_bus *bus, struct own_type *own) {
  HASH_DEL(bus->types, own);
  free(own->announcement.frame);
  free(own->id);
  free(own);
}

static void bound_free(struct cr_bus *bus, struct bound *bound) {
  HASH_DEL(bus->bindings, bound);
  free(bound->id);
  free(bound->trigger_type);
  free(bound);
}

int cr_bus_withdraw(struct cr_bus *bus, const char *id) {
  struct own_type *own = NULL;
  HASH_FIND_STR(bus->types, id, own);
  if (!own) return 0;
  struct cr_writer writer = cr_bus_frame(bus, "unregistertriggertype");
  cr_write_text(&writer, "id", id);
  cr_bus_frame_send(bus, &writer);
  struct bound *bound, *next;
  HASH_ITER(hh, bus->bindings, bound, next) if (!strcmp(bound->trigger_type, id)) bound_free(bus, bound);
  type_free(bus, own);
  return 1;
}

static void remember(struct cr_bus *bus, const char *id, const char *trigger_type) {
  struct bound *bound = NULL;
  HASH_FIND_STR(bus->bindings, id, bound);
  if (bound) bound_free(bus, bound);
  bound = cr_alloc(sizeof *bound);
  bound->id = cr_strdup(id);
  bound->trigger_type = cr_strdup(trigger_type);
  HASH_ADD_KEYPTR(hh, bus->bindings, bound->id, strlen(bound->id), bound);
}

static struct cr_bus_ack *ack_create(struct cr_bus *bus, const struct cr_msg *msg) {
  struct cr_bus_ack *ack = cr_alloc(sizeof *ack);
  ack->bus = bus;
  ack->id = cr_strdup(msg->id);
  ack->trigger_type = cr_strdup(msg->trigger_type);
  ack->function_id = cr_strdup(msg->function_id);
  cr_list_append(&bus->acks, &ack->link);
  return ack;
}

void cr_bus_trigger_bound(struct cr_bus *bus, const struct cr_msg *msg) {
  struct own_type *own = NULL;
  HASH_FIND_STR(bus->types, msg->trigger_type, own);
  struct cr_bus_ack *ack = ack_create(bus, msg);
  if (!own) {
    cr_bus_acknowledge(ack, "trigger_type_not_found", "Trigger type not found");
    return;
  }
  if (HASH_COUNT(bus->bindings) >= BINDINGS_MAX) {
    cr_bus_acknowledge(ack, CR_BUS_OVERLOADED, "this worker has too many bindings");
    return;
  }
  remember(bus, msg->id, msg->trigger_type);
  struct cr_bus_binding binding = {
      .id = msg->id, .trigger_type = msg->trigger_type, .function_id = msg->function_id, .name_space = msg->name_space};
  char *config = yyjson_val_write(msg->config, YYJSON_WRITE_NOFLAG, &binding.config_length);
  char *metadata =
      msg->metadata ? yyjson_val_write(msg->metadata, YYJSON_WRITE_NOFLAG, &binding.metadata_length) : NULL;
  if (!config || (msg->metadata && !metadata)) cr_out_of_memory();
  binding.config = config;
  binding.metadata = metadata;
  own->provider.bound(own->of, &binding, ack);
  free(config);
  free(metadata);
}

void cr_bus_trigger_unbound(struct cr_bus *bus, const struct cr_msg *msg) {
  struct bound *bound = NULL;
  HASH_FIND_STR(bus->bindings, msg->id, bound);
  if (!bound) return;
  struct own_type *own = NULL;
  HASH_FIND_STR(bus->types, bound->trigger_type, own);
  bound_free(bus, bound);
  if (own) own->provider.unbound(own->of, msg->id, own->id);
}

static void ack_detach(struct cr_bus_ack *ack) {
  cr_list_remove(&ack->link);
  ack->bus = NULL;
}

void cr_bus_acknowledge(struct cr_bus_ack *ack, const char *code, const char *message) {
  struct cr_bus *bus = ack->bus;
  if (bus && bus->linked) {
    struct cr_writer writer = cr_bus_frame(bus, "triggerregistrationresult");
    cr_write_text(&writer, "id", ack->id);
    cr_write_text(&writer, "trigger_type", ack->trigger_type);
    cr_write_text(&writer, "function_id", ack->function_id);
    if (code) cr_msg_write_error(&writer, code, message, NULL);
    cr_bus_frame_send(bus, &writer);
  }
  if (bus && code) {
    struct bound *bound = NULL;
    HASH_FIND_STR(bus->bindings, ack->id, bound);
    if (bound) bound_free(bus, bound);
  }
  if (bus) ack_detach(ack);
  free(ack->id);
  free(ack->trigger_type);
  free(ack->function_id);
  free(ack);
}

void cr_bus_acks_stop(struct cr_bus *bus) {
  while (!cr_list_empty(&bus->acks)) ack_detach(cr_list_item(bus->acks.next, struct cr_bus_ack, link));
}

void cr_bus_triggers_free(struct cr_bus *bus) {
  struct own_trigger *trigger, *next_trigger;
  HASH_ITER(hh, bus->triggers, trigger, next_trigger) trigger_free(bus, trigger);
  struct own_type *type, *next_type;
  HASH_ITER(hh, bus->types, type, next_type) type_free(bus, type);
  struct bound *bound, *next_bound;
  HASH_ITER(hh, bus->bindings, bound, next_bound) bound_free(bus, bound);
}
