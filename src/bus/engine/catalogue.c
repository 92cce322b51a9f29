#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bus/engine/internal.h"

struct function_id *cr_catalogue_group(struct cr_engine *engine, const char *id) {
  struct function_id *group = NULL;
  HASH_FIND_STR(engine->functions, id, group);
  return group;
}

static struct function *in_group(struct function_id *group, const char *name_space) {
  struct function *function = group ? group->first : NULL;
  while (function && strcmp(function->name_space, name_space) != 0) function = function->next;
  return function;
}

struct function *cr_catalogue_find(struct cr_engine *engine, const char *name_space, const char *id) {
  return in_group(cr_catalogue_group(engine, id), name_space);
}

// Order does not matter to the sum: the same set of ids has the same fingerprint.
static uint32_t print_of(const struct function *function) {
  return cr_hash(function->group->id, strlen(function->group->id)) * 31 +
         cr_hash(function->name_space, strlen(function->name_space));
}

static struct function *add(struct cr_engine *engine, const char *name_space, const char *id) {
  struct function_id *group = cr_catalogue_group(engine, id);
  if (!group) {
    group = cr_alloc(sizeof *group);
    group->id = cr_strdup(id);
    HASH_ADD_KEYPTR(hh, engine->functions, group->id, strlen(group->id), group);
  }
  struct function *function = cr_alloc(sizeof *function);
  function->group = group;
  function->name_space = cr_strdup(name_space);
  cr_list_init(&function->link);
  struct function **at = &group->first;
  while (*at && strcmp((*at)->name_space, name_space) < 0) at = &(*at)->next;
  function->next = *at;
  *at = function;
  engine->fingerprint += print_of(function);
  return function;
}

static void clear(struct function *function) {
  if (function->owner) function->owner->registered_bytes -= function->bytes;
  free(function->description);
  free(function->request);
  free(function->response);
  free(function->metadata);
  function->description = function->request = function->response = function->metadata = NULL;
}

void cr_catalogue_remove(struct cr_engine *engine, struct function *function) {
  struct function_id *group = function->group;
  engine->fingerprint -= print_of(function);
  struct function **at = &group->first;
  while (*at != function) at = &(*at)->next;
  *at = function->next;
  cr_list_remove(&function->link);
  clear(function);
  free(function->name_space);
  free(function);
  if (group->first) return;
  HASH_DEL(engine->functions, group);
  free(group->id);
  free(group);
}

void cr_catalogue_free(struct cr_engine *engine) {
  while (engine->functions) cr_catalogue_remove(engine, engine->functions->first);
}

static void reject(struct peer *peer, const char *id, const char *owner) {
  struct cr_writer writer = cr_engine_frame(peer->engine, "registrationrejected");
  cr_write_text(&writer, "code", "FUNCTION_NAMESPACE_CONFLICT");
  cr_write_text(&writer, "namespace", peer->name_space);
  cr_write_text(&writer, "function_id", id);
  cr_write_text(&writer, "owner_worker_id", owner);
  if (!cr_writer_close(&writer)) cr_peer_send_frame(peer);
}

static int is_true(yyjson_val *object, const char *name) { return yyjson_is_true(yyjson_obj_get(object, name)); }

static void fill(struct function *function, struct peer *peer, const struct cr_msg *msg) {
  size_t sizes[3] = {0};
  function->description = cr_copied(msg->description);
  function->request = cr_value_text(msg->request_format, &sizes[0]);
  function->response = cr_value_text(msg->response_format, &sizes[1]);
  function->metadata = cr_value_text(msg->metadata, &sizes[2]);
  function->internal = is_true(msg->metadata, "internal");
  function->owner = peer;
  function->bytes = sizeof *function + 2 * strlen(msg->id) + sizes[0] + sizes[1] + sizes[2] +
                    (msg->description ? strlen(msg->description) : 0);
  peer->registered_bytes += function->bytes;
}

void cr_catalogue_register(struct peer *peer, const struct cr_msg *msg) {
  struct cr_engine *engine = peer->engine;
  if (msg->invocation) {
    cr_log(CR_LOG_WARN, "engine: %.200s is an HTTP-invoked function, which this engine does not serve", msg->id);
    return;
  }
  struct function *function = cr_catalogue_find(engine, peer->name_space, msg->id);
  int reserved = !strncmp(msg->id, "engine::", 8) && strcmp(peer->name_space, DEFAULT_NAMESPACE) != 0;
  if (reserved || (function && function->owner != peer)) {
    reject(peer, msg->id, !reserved && function->owner ? function->owner->id : "");
    return;
  }
  if (peer->registered_bytes > REGISTERED_MAX) {
    cr_log(CR_LOG_WARN, "engine: worker %s registers too much; %.200s is dropped", peer->id, msg->id);
    return;
  }
  if (function) {
    clear(function);
  } else {
    function = add(engine, peer->name_space, msg->id);
    cr_list_append(&peer->functions, &function->link);
  }
  fill(function, peer, msg);
}

void cr_catalogue_unregister(struct peer *peer, const char *id) {
  struct function *function = cr_catalogue_find(peer->engine, peer->name_space, id);
  if (function && function->owner == peer) cr_catalogue_remove(peer->engine, function);
}

void cr_builtin_register(struct cr_engine *engine, const char *id, const char *description, builtin *run) {
  struct function *function = add(engine, DEFAULT_NAMESPACE, id);
  function->description = cr_strdup(description);
  function->run = run;
}

const char *cr_catalogue_worker(const struct function *function, char text[512]) {
  if (function->owner && function->owner->name) return function->owner->name;
  const char *id = function->group->id, *colons = strstr(id, "::");
  size_t length = colons ? (size_t)(colons - id) : strlen(id);
  if (length > 511) length = 511;
  memcpy(text, id, length);
  text[length] = 0;
  return text;
}
