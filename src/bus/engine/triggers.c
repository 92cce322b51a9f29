#include <stdlib.h>
#include <string.h>

#include "base/id.h"
#include "base/json.h"
#include "base/log.h"
#include "bus/engine/internal.h"

#define ACK_MS 10000

static char *key_of(const char *name_space, const char *id, size_t *length) {
  size_t first = strlen(name_space) + 1, second = strlen(id);
  char *key = cr_alloc(first + second + 1);
  memcpy(key, name_space, first);
  memcpy(key + first, id, second + 1);
  *length = first + second;
  return key;
}

struct trigger_type *cr_trigger_type_find(struct cr_engine *engine, const char *name_space, const char *id) {
  size_t length = 0;
  cr_autofree char *key = key_of(name_space, id, &length);
  struct trigger_type *type = NULL;
  HASH_FIND(hh, engine->types, key, length, type);
  return type;
}

static struct binding *find_binding(struct cr_engine *engine, const char *id) {
  struct binding *binding = NULL;
  HASH_FIND_STR(engine->bindings, id, binding);
  return binding;
}

// The provider of a binding (spec 5.2): the namespace it names, else its registrant's, else `default`.
static struct trigger_type *provider_of(struct cr_engine *engine, const struct binding *binding) {
  if (binding->trigger_namespace)
    return cr_trigger_type_find(engine, binding->trigger_namespace, binding->trigger_type);
  struct trigger_type *own = cr_trigger_type_find(engine, binding->registrant_namespace, binding->trigger_type);
  return own ? own : cr_trigger_type_find(engine, DEFAULT_NAMESPACE, binding->trigger_type);
}

static void write_namespace(struct cr_writer *writer, const char *name, const char *name_space) {
  if (name_space && strcmp(name_space, DEFAULT_NAMESPACE) != 0) cr_write_text(writer, name, name_space);
}

static void tell_bound(const struct binding *binding) {
  struct peer *owner = binding->provider->owner;
  struct cr_writer writer = cr_engine_frame(owner->engine, "registertrigger");
  cr_write_text(&writer, "id", binding->id);
  cr_write_text(&writer, "trigger_type", binding->trigger_type);
  cr_write_text(&writer, "function_id", binding->function_id);
  cr_write_json(&writer, "config", binding->config, strlen(binding->config));
  if (binding->metadata) cr_write_json(&writer, "metadata", binding->metadata, strlen(binding->metadata));
  write_namespace(&writer, "namespace", binding->name_space);
  write_namespace(&writer, "trigger_namespace", binding->trigger_namespace);
  if (!cr_writer_close(&writer)) cr_peer_send_frame(owner);
}

static void tell_unbound(const struct binding *binding) {
  struct peer *owner = binding->provider ? binding->provider->owner : NULL;
  if (!owner || owner->gone) return;
  struct cr_writer writer = cr_engine_frame(owner->engine, "unregistertrigger");
  cr_write_text(&writer, "id", binding->id);
  cr_write_text(&writer, "trigger_type", binding->trigger_type);
  if (!cr_writer_close(&writer)) cr_peer_send_frame(owner);
}

struct refusal {
  const char *code, *message;  // or
  yyjson_val *error;           // the provider's own
};

static void tell_refused(struct peer *registrant, const char *id, const char *trigger_type, const char *function_id,
                         const struct refusal *refusal) {
  if (!registrant || registrant->gone) return;
  struct cr_writer writer = cr_engine_frame(registrant->engine, "triggerregistrationresult");
  cr_write_text(&writer, "id", id);
  cr_write_text(&writer, "trigger_type", trigger_type);
  cr_write_text(&writer, "function_id", function_id);
  if (refusal->error)
    cr_msg_copy_error(&writer, refusal->error);
  else
    cr_msg_write_error(&writer, refusal->code, refusal->message, NULL);
  if (!cr_writer_close(&writer)) cr_peer_send_frame(registrant);
}

static void park(struct binding *binding) {
  cr_list_remove(&binding->provider_link);
  binding->provider = NULL;
}

static const char *refuses(const struct trigger_type *type, const struct binding *binding) {
  if (!type->refuse) return NULL;
  yyjson_doc *doc = cr_json_parse(binding->config, strlen(binding->config), NULL);
  const char *reason = type->refuse(yyjson_doc_get_root(doc));
  yyjson_doc_free(doc);
  return reason;
}

// Gives the binding to the type, or parks it with the type NULL. A reason when the engine's own type refuses it.
static const char *attach(struct binding *binding, struct trigger_type *type) {
  const char *reason = type ? refuses(type, binding) : NULL;
  park(binding);
  if (!type || reason) return reason;
  binding->provider = type;
  cr_list_append(&type->bindings, &binding->provider_link);
  if (type->owner) tell_bound(binding);
  return NULL;
}

// --- types --------------------------------------------------------------------------------------------------------

static void type_clear(struct trigger_type *type) {
  if (type->owner) type->owner->registered_bytes -= type->bytes;
  cr_list_remove(&type->link);
  free(type->description);
  free(type->config_format);
  free(type->payload_format);
}

static struct trigger_type *type_add(struct cr_engine *engine, const char *name_space, const char *id) {
  struct trigger_type *type = cr_alloc(sizeof *type);
  type->id = cr_strdup(id);
  type->name_space = cr_strdup(name_space);
  type->key = key_of(name_space, id, &type->key_length);
  cr_list_init(&type->link);
  cr_list_init(&type->bindings);
  HASH_ADD_KEYPTR(hh, engine->types, type->key, type->key_length, type);
  return type;
}

// Bindings of the type fall back to one in `default`, or wait for a next provider.
static void type_remove(struct cr_engine *engine, struct trigger_type *type) {
  HASH_DEL(engine->types, type);
  struct cr_list orphans;
  cr_list_init(&orphans);
  while (!cr_list_empty(&type->bindings)) {
    struct cr_list *link = type->bindings.next;
    cr_list_remove(link);
    cr_list_append(&orphans, link);
  }
  while (!cr_list_empty(&orphans)) {
    struct binding *binding = cr_list_item(orphans.next, struct binding, provider_link);
    attach(binding, engine->stopping ? NULL : provider_of(engine, binding));
  }
  type_clear(type);
  free(type->id);
  free(type->name_space);
  free(type->key);
  free(type);
}

static void type_fill(struct trigger_type *type, struct peer *peer, const struct cr_msg *msg) {
  size_t sizes[2] = {0};
  type->owner = peer;
  type->description = cr_strdup(msg->description);
  type->config_format = cr_value_text(msg->request_format, &sizes[0]);
  type->payload_format = cr_value_text(msg->response_format, &sizes[1]);
  type->bytes = sizeof *type + 2 * strlen(msg->id) + strlen(msg->description) + sizes[0] + sizes[1];
  peer->registered_bytes += type->bytes;
  cr_list_append(&peer->types, &type->link);
}

// Sends the type's bindings again, then gives it those that wait for it or had fallen back to another (spec 5.3).
static void type_announce(struct cr_engine *engine, struct trigger_type *type) {
  for (struct cr_list *at = type->bindings.next; at != &type->bindings; at = at->next)
    tell_bound(cr_list_item(at, struct binding, provider_link));
  struct binding *binding, *next;
  HASH_ITER(hh, engine->bindings, binding, next) {
    if (binding->provider == type || strcmp(binding->trigger_type, type->id) != 0) continue;
    if (provider_of(engine, binding) != type) continue;
    tell_unbound(binding);
    attach(binding, type);
  }
}

void cr_trigger_type_register(struct peer *peer, const struct cr_msg *msg) {
  struct cr_engine *engine = peer->engine;
  const char *name_space = msg->name_space ? msg->name_space : peer->name_space;
  struct trigger_type *type = cr_trigger_type_find(engine, name_space, msg->id);
  if (type && !type->owner) {
    cr_log(CR_LOG_WARN, "engine: worker %s cannot replace the trigger type %s", peer->id, type->id);
    return;
  }
  if (peer->registered_bytes > REGISTERED_MAX) {
    cr_log(CR_LOG_WARN, "engine: worker %s registers too much; trigger type %.200s is dropped", peer->id, msg->id);
    return;
  }
  if (type)
    type_clear(type);
  else
    type = type_add(engine, name_space, msg->id);
  type_fill(type, peer, msg);
  type_announce(engine, type);
}

void cr_trigger_type_unregister(struct peer *peer, const char *id) {
  struct trigger_type *type = cr_trigger_type_find(peer->engine, peer->name_space, id);
  if (type && type->owner == peer) type_remove(peer->engine, type);
}

void cr_trigger_type_builtin(struct cr_engine *engine, const char *id, const char *description,
                             const char *(*refuse)(yyjson_val *config)) {
  struct trigger_type *type = type_add(engine, DEFAULT_NAMESPACE, id);
  type->description = cr_strdup(description);
  type->refuse = refuse;
}

// --- bindings -----------------------------------------------------------------------------------------------------

static size_t *account(struct cr_engine *engine, const struct binding *binding) {
  return binding->registrant ? &binding->registrant->registered_bytes : &engine->orphan_bytes;
}

static void answer_waiting(struct binding *binding, const struct refusal *refusal) {
  struct invocation *waiting = binding->waiting;
  if (!waiting) return;
  binding->waiting = NULL;
  cr_alarm_clear(waiting->engine->alarms, &binding->ack);
  if (!refusal) {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_obj_add_str(doc, root, "id", binding->id);
    cr_answer_doc(waiting, doc);
    return;
  }
  const char *message = refusal->error ? yyjson_get_str(yyjson_obj_get(refusal->error, "message")) : refusal->message;
  cr_answer_error(waiting, "trigger_registration_failed", "%s", message ? message : "");
}

static void on_ack_alarm(struct cr_alarm *alarm) { answer_waiting(cr_list_item(alarm, struct binding, ack), NULL); }

static void binding_remove(struct cr_engine *engine, struct binding *binding) {
  static const struct refusal removed = {"trigger_registration_failed", "the trigger was removed", NULL};
  HASH_DEL(engine->bindings, binding);
  answer_waiting(binding, &removed);
  *account(engine, binding) -= binding->bytes;
  cr_list_remove(&binding->link);
  cr_list_remove(&binding->provider_link);
  free(binding->id);
  free(binding->trigger_type);
  free(binding->function_id);
  free(binding->config);
  free(binding->metadata);
  free(binding->name_space);
  free(binding->trigger_namespace);
  free(binding->registrant_namespace);
  free(binding);
}

struct wish {
  const char *id, *trigger_type, *function_id, *name_space, *trigger_namespace;
  yyjson_val *config, *metadata;
  struct peer *registrant;  // NULL: function form
};

static struct binding *binding_add(struct cr_engine *engine, const struct wish *wish) {
  struct peer *registrant = wish->registrant;
  struct binding *binding = cr_alloc(sizeof *binding);
  size_t sizes[2] = {0};
  binding->id = cr_strdup(wish->id);
  binding->trigger_type = cr_strdup(wish->trigger_type);
  binding->function_id = cr_strdup(wish->function_id);
  binding->config = wish->config ? cr_value_text(wish->config, &sizes[0]) : cr_strdup("null");
  binding->metadata = cr_value_text(wish->metadata, &sizes[1]);
  binding->name_space = cr_strdup(wish->name_space ? wish->name_space : DEFAULT_NAMESPACE);
  binding->trigger_namespace = cr_copied(wish->trigger_namespace);
  binding->registrant = registrant;
  binding->registrant_namespace = cr_strdup(registrant ? registrant->name_space : DEFAULT_NAMESPACE);
  binding->ack.ring = on_ack_alarm;
  binding->bytes =
      sizeof *binding + strlen(wish->id) + strlen(wish->trigger_type) + strlen(wish->function_id) + sizes[0] + sizes[1];
  cr_list_init(&binding->link);
  cr_list_init(&binding->provider_link);
  if (registrant) cr_list_append(&registrant->bindings, &binding->link);
  *account(engine, binding) += binding->bytes;
  HASH_ADD_KEYPTR(hh, engine->bindings, binding->id, strlen(binding->id), binding);
  return binding;
}

static int blank(const char *text) { return text && text[strspn(text, " \t\r\n")] == 0; }

static const struct refusal blank_namespace = {"INVALID_NAMESPACE", "a namespace of the trigger is blank", NULL};

void cr_trigger_register(struct peer *peer, const struct cr_msg *msg) {
  struct cr_engine *engine = peer->engine;
  struct wish wish = {
      msg->id, msg->trigger_type, msg->function_id, msg->name_space, msg->trigger_namespace, msg->config, msg->metadata,
      peer};
  if (blank(msg->name_space) || blank(msg->trigger_namespace)) {
    tell_refused(peer, msg->id, msg->trigger_type, msg->function_id, &blank_namespace);
    return;
  }
  if (peer->registered_bytes > REGISTERED_MAX) {
    tell_refused(peer, msg->id, msg->trigger_type, msg->function_id,
                 &(struct refusal){"trigger_registration_failed", "this worker has registered too much", NULL});
    return;
  }
  // The same id again is a replacement: a provider that keeps it just hears of it again.
  struct binding *old = find_binding(engine, msg->id);
  if (old) {
    if (old->provider && strcmp(old->trigger_type, msg->trigger_type) != 0) tell_unbound(old);
    binding_remove(engine, old);
  }
  struct binding *binding = binding_add(engine, &wish);
  const char *reason = attach(binding, provider_of(engine, binding));
  if (!reason) return;
  binding_remove(engine, binding);
  tell_refused(peer, msg->id, msg->trigger_type, msg->function_id,
               &(struct refusal){"trigger_registration_failed", reason, NULL});
}

void cr_trigger_unregister(struct cr_engine *engine, const char *id) {
  struct binding *binding = find_binding(engine, id);
  if (!binding) return;
  tell_unbound(binding);
  binding_remove(engine, binding);
}

void cr_trigger_acknowledged(struct peer *peer, const struct cr_msg *msg) {
  struct cr_engine *engine = peer->engine;
  struct binding *binding = find_binding(engine, msg->id);
  if (!binding || !binding->provider || binding->provider->owner != peer) return;
  if (!msg->error) {
    answer_waiting(binding, NULL);
    return;
  }
  struct refusal refusal = {.error = msg->error};
  if (binding->waiting) {
    answer_waiting(binding, &refusal);
    binding_remove(engine, binding);
    return;
  }
  park(binding);
  tell_refused(binding->registrant, binding->id, binding->trigger_type, binding->function_id, &refusal);
}

void cr_triggers_drop(struct peer *peer) {
  struct cr_engine *engine = peer->engine;
  while (!cr_list_empty(&peer->bindings)) {
    struct binding *binding = cr_list_item(peer->bindings.next, struct binding, link);
    tell_unbound(binding);
    binding_remove(engine, binding);
  }
  while (!cr_list_empty(&peer->types)) type_remove(engine, cr_list_item(peer->types.next, struct trigger_type, link));
}

void cr_triggers_free(struct cr_engine *engine) {
  struct binding *binding, *next_binding;
  HASH_ITER(hh, engine->bindings, binding, next_binding) binding_remove(engine, binding);
  struct trigger_type *type, *next_type;
  HASH_ITER(hh, engine->types, type, next_type) type_remove(engine, type);
}

// --- the function form (spec 5.5) ---------------------------------------------------------------------------------

void cr_builtin_register_trigger(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct wish wish = {0};
  if (!(wish.trigger_type = cr_input_text(invocation, input, "trigger_type"))) return;
  if (!(wish.function_id = cr_input_text(invocation, input, "function_id"))) return;
  wish.trigger_namespace = cr_optional_text(input, "trigger_namespace");
  wish.config = yyjson_obj_get(input, "config");
  wish.metadata = yyjson_obj_get(input, "metadata");
  if (yyjson_is_null(wish.metadata)) wish.metadata = NULL;
  if (blank(wish.trigger_namespace)) {
    cr_answer_error(invocation, "INVALID_NAMESPACE", "%s", blank_namespace.message);
    return;
  }
  if (engine->orphan_bytes > REGISTERED_MAX) {
    cr_answer_error(invocation, "trigger_registration_failed", "too many triggers are registered this way");
    return;
  }
  char id[CR_UUID_SIZE];
  cr_uuid(id);
  wish.id = id;
  struct binding *binding = binding_add(engine, &wish);
  binding->waiting = invocation;
  const char *reason = attach(binding, provider_of(engine, binding));
  if (reason) {
    answer_waiting(binding, &(struct refusal){"trigger_registration_failed", reason, NULL});
    binding_remove(engine, binding);
  } else if (binding->provider && binding->provider->owner) {
    cr_alarm_set(engine->alarms, &binding->ack, ACK_MS);
  } else {
    answer_waiting(binding, NULL);
  }
}

void cr_builtin_unregister_trigger(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *id = cr_input_text(invocation, input, "id");
  if (!id) return;
  int found = find_binding(engine, id) != NULL;
  if (found) cr_trigger_unregister(engine, id);
  static const char *const results[] = {"{\"removed\":false}", "{\"removed\":true}"};
  cr_answer_json(invocation, results[found], strlen(results[found]));
}
