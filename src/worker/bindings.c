#include "worker/bindings.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/mem.h"
#include "bus/client.h"
#include "worker/internal.h"
#include "worker/published.h"
#include "worker/runtime.h"
#include "worker/targets.h"

#define BOUND_MAX 4096u  // bindings of others to one trigger type

struct binding {
  struct cr_list link;
  char id[37];
};

struct provided {
  struct cr_list link;
  struct cr_runtime *runtime;
  char *id;
  struct cr_list bound;
  unsigned bound_count;
};

// A binding of somebody to a guest's trigger type: the bus names only its id when it ends.
struct bound {
  struct cr_list link;
  char *id;
  char *json;  // as the guest was told
  size_t length;
};

struct cr_bindings {
  struct cr_list triggers;
  struct cr_list types;
  unsigned count;
};

static struct cr_bindings *bindings_of(struct cr_runtime *runtime) {
  if (runtime->bindings) return runtime->bindings;
  runtime->bindings = cr_alloc(sizeof *runtime->bindings);
  cr_list_init(&runtime->bindings->triggers);
  cr_list_init(&runtime->bindings->types);
  return runtime->bindings;
}

unsigned cr_bindings_count(const struct cr_runtime *runtime) {
  return runtime->bindings ? runtime->bindings->count : 0;
}

int cr_bindings_room(const struct cr_runtime *runtime, struct cr_error *err) {
  if (cr_published_count(runtime) + cr_bindings_count(runtime) < CR_REGISTRATIONS_MAX) return 0;
  return cr_error_set(err, CR_INVALID_REQUEST,
                      "this runtime holds %u registrations already, which is the limit; unregister some",
                      CR_REGISTRATIONS_MAX);
}

int cr_bindings_bind(struct cr_runtime *runtime, yyjson_val *input, char id[37], struct cr_error *err) {
  const char *type = yyjson_get_str(yyjson_obj_get(input, "type"));
  const char *function_id = yyjson_get_str(yyjson_obj_get(input, "function_id"));
  yyjson_val *config = yyjson_obj_get(input, "config"), *metadata = yyjson_obj_get(input, "metadata");
  if (!type || !function_id) return cr_error_set(err, CR_INVALID_REQUEST, "type and function_id must be strings");
  if (cr_target_bind(function_id, err) || cr_bindings_room(runtime, err)) return -1;
  cr_autofree char *config_text = config ? cr_json_text(config, NULL) : NULL;
  cr_autofree char *metadata_text = metadata && !yyjson_is_null(metadata) ? cr_json_text(metadata, NULL) : NULL;
  const struct cr_bus_trigger trigger = {
      .trigger_type = type, .function_id = function_id, .config = config_text, .metadata = metadata_text};
  struct binding *binding = cr_alloc(sizeof *binding);
  if (cr_bus_bind(runtime->worker->bus, &trigger, binding->id, err)) {
    free(binding);
    return -1;
  }
  memcpy(id, binding->id, sizeof binding->id);
  cr_list_append(&bindings_of(runtime)->triggers, &binding->link);
  runtime->bindings->count++;
  return 0;
}

static void release_binding(struct cr_runtime *runtime, struct binding *binding) {
  cr_bus_unbind(runtime->worker->bus, binding->id);
  cr_list_remove(&binding->link);
  free(binding);
  runtime->bindings->count--;
}

void cr_bindings_unbind(struct cr_runtime *runtime, const char *id) {
  struct cr_list *triggers = &bindings_of(runtime)->triggers;
  for (struct cr_list *at = triggers->next; at != triggers; at = at->next) {
    struct binding *binding = cr_list_item(at, struct binding, link);
    if (strcmp(binding->id, id) != 0) continue;
    release_binding(runtime, binding);
    return;
  }
}

// --- trigger types --------------------------------------------------------------------------------------------------

static void on_notified(void *of, struct cr_outcome *outcome) {
  struct cr_bus_ack *ack = of;
  if (!ack) return;
  if (outcome->error.code)
    cr_bus_acknowledge(ack, "trigger_registration_failed", outcome->error.message);
  else if (outcome->exit_code) {
    cr_autofree char *text = cr_strndup((const char *)outcome->failure, outcome->failure_length);
    cr_bus_acknowledge(ack, "trigger_registration_failed", text);
  } else {
    cr_bus_acknowledge(ack, NULL, NULL);
  }
}

static void notify(const struct provided *provided, const char *what, const char *json, size_t length,
                   struct cr_bus_ack *ack) {
  struct cr_runtime *runtime = provided->runtime;
  uint64_t budget = cr_config_budget(&runtime->worker->config, 0);
  struct cr_turn *turn = cr_turn_create(runtime, CR_FRAME_NOTIFY, budget);
  struct cr_frame_writer writer = cr_frame_begin(&turn->frame, CR_FRAME_NOTIFY, 0, 0);
  cr_frame_text(&writer, provided->id);
  cr_frame_text(&writer, what);
  cr_frame_bytes(&writer, json, length);
  cr_frame_number(&writer, (int64_t)budget);
  turn->finished = on_notified;
  turn->of = ack;
  if (cr_frame_end(&writer))
    cr_turn_refuse(turn, CR_INVALID_REQUEST, "the binding is too large");
  else
    cr_runtime_submit(turn);
}

static struct bound *find_bound(struct provided *provided, const char *id) {
  for (struct cr_list *at = provided->bound.next; at != &provided->bound; at = at->next) {
    struct bound *bound = cr_list_item(at, struct bound, link);
    if (!strcmp(bound->id, id)) return bound;
  }
  return NULL;
}

static void forget_bound(struct provided *provided, struct bound *bound) {
  cr_list_remove(&bound->link);
  provided->bound_count--;
  free(bound->id);
  free(bound->json);
  free(bound);
}

static void add_raw(yyjson_mut_doc *doc, const char *key, const char *json, size_t length) {
  yyjson_mut_val *value = json ? yyjson_mut_rawn(doc, json, length) : yyjson_mut_null(doc);
  yyjson_mut_obj_add_val(doc, yyjson_mut_doc_get_root(doc), key, value);
}

static char *describe(const struct cr_bus_binding *binding, size_t *length) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "id", binding->id);
  yyjson_mut_obj_add_str(doc, root, "function_id", binding->function_id);
  add_raw(doc, "config", binding->config, binding->config_length);
  add_raw(doc, "metadata", binding->metadata, binding->metadata_length);
  char *json = cr_json_mut_text(doc, length);
  yyjson_mut_doc_free(doc);
  return json;
}

static void on_bound(void *of, const struct cr_bus_binding *binding, struct cr_bus_ack *ack) {
  struct provided *provided = of;
  // The bus announces the same binding again after it has been away.
  struct bound *bound = find_bound(provided, binding->id);
  if (bound) forget_bound(provided, bound);
  if (provided->bound_count >= BOUND_MAX) {
    if (ack)
      cr_bus_acknowledge(ack, "trigger_registration_failed", "this trigger type has all the bindings it may have");
    return;
  }
  bound = cr_alloc(sizeof *bound);
  bound->id = cr_strdup(binding->id);
  bound->json = describe(binding, &bound->length);
  cr_list_append(&provided->bound, &bound->link);
  provided->bound_count++;
  notify(provided, "registerTrigger", bound->json, bound->length, ack);
}

static void on_unbound(void *of, const char *id, const char *trigger_type) {
  struct provided *provided = of;
  (void)trigger_type;
  struct bound *bound = find_bound(provided, id);
  if (!bound) return;
  notify(provided, "unregisterTrigger", bound->json, bound->length, NULL);
  forget_bound(provided, bound);
}

static const struct cr_bus_provider provider = {.bound = on_bound, .unbound = on_unbound};

static struct provided *find_provided(struct cr_runtime *runtime, const char *id) {
  struct cr_list *types = &bindings_of(runtime)->types;
  for (struct cr_list *at = types->next; at != types; at = at->next) {
    struct provided *provided = cr_list_item(at, struct provided, link);
    if (!strcmp(provided->id, id)) return provided;
  }
  return NULL;
}

int cr_bindings_provide(struct cr_runtime *runtime, const char *id, const char *description, struct cr_error *err) {
  if (find_provided(runtime, id)) return 0;
  if (cr_bindings_room(runtime, err)) return -1;
  struct provided *provided = cr_alloc(sizeof *provided);
  *provided = (struct provided){.runtime = runtime, .id = cr_strdup(id)};
  cr_list_init(&provided->bound);
  const struct cr_bus_trigger_type type = {.id = provided->id, .description = description};
  if (cr_bus_provide(runtime->worker->bus, &type, &provider, provided, err)) {
    free(provided->id);
    free(provided);
    return -1;
  }
  cr_list_append(&bindings_of(runtime)->types, &provided->link);
  runtime->bindings->count++;
  return 0;
}

static void release_provided(struct cr_runtime *runtime, struct provided *provided) {
  cr_bus_withdraw(runtime->worker->bus, provided->id);
  while (!cr_list_empty(&provided->bound))
    forget_bound(provided, cr_list_item(provided->bound.next, struct bound, link));
  cr_list_remove(&provided->link);
  free(provided->id);
  free(provided);
  runtime->bindings->count--;
}

void cr_bindings_withdraw(struct cr_runtime *runtime, const char *id) {
  struct provided *provided = find_provided(runtime, id);
  if (provided) release_provided(runtime, provided);
}

void cr_bindings_drop(struct cr_runtime *runtime) {
  struct cr_bindings *bindings = runtime->bindings;
  if (!bindings) return;
  while (!cr_list_empty(&bindings->triggers))
    release_binding(runtime, cr_list_item(bindings->triggers.next, struct binding, link));
  while (!cr_list_empty(&bindings->types))
    release_provided(runtime, cr_list_item(bindings->types.next, struct provided, link));
  free(bindings);
  runtime->bindings = NULL;
}
