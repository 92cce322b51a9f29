// engine::functions::*, engine::triggers::*, engine::registered-triggers::* and engine::workers::{list,info} (spec 6).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bus/engine/internal.h"

#define BATCH_MAX 32
#define SUMMARY_CHARACTERS 80

struct text_list {
  const void **items;
  size_t count, cap;
};

static void list_add(struct text_list *list, const void *item) {
  if (list->count == list->cap) {
    list->cap = list->cap ? list->cap * 2 : 64;
    list->items = cr_grow(list->items, list->cap * sizeof *list->items);
  }
  list->items[list->count++] = item;
}

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text) {
  if (text) yyjson_mut_obj_add_strcpy(doc, object, name, text);
}

static void add_text_or_null(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *text) {
  if (text)
    yyjson_mut_obj_add_strcpy(doc, object, name, text);
  else
    yyjson_mut_obj_add_null(doc, object, name);
}

static void add_json(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *name, const char *json) {
  if (json) yyjson_mut_obj_add_val(doc, object, name, yyjson_mut_rawcpy(doc, json));
}

static yyjson_mut_doc *new_object(yyjson_mut_val **root) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, *root);
  return doc;
}

static int contains(const char *text, const char *part) { return text && strcasestr(text, part) != NULL; }

static int starts(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

// --- functions ----------------------------------------------------------------------------------------------------

static yyjson_mut_val *function_summary(yyjson_mut_doc *doc, const struct function *function) {
  char worker[512];
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  add_text(doc, object, "function_id", function->group->id);
  add_text(doc, object, "namespace", function->name_space);
  add_text(doc, object, "worker_name", cr_catalogue_worker(function, worker));
  add_text(doc, object, "description", function->description);
  add_json(doc, object, "metadata", function->metadata);
  return object;
}

static yyjson_mut_val *function_detail(struct cr_engine *engine, yyjson_mut_doc *doc, const struct function *function) {
  yyjson_mut_val *object = function_summary(doc, function);
  add_json(doc, object, "request_schema", function->request);
  add_json(doc, object, "response_schema", function->response);
  yyjson_mut_val *triggers = yyjson_mut_obj_add_arr(doc, object, "registered_triggers");
  struct binding *binding, *next;
  HASH_ITER(hh, engine->bindings, binding, next) {
    if (!binding->provider || strcmp(binding->function_id, function->group->id) != 0 ||
        strcmp(binding->name_space, function->name_space) != 0)
      continue;
    yyjson_mut_val *trigger = yyjson_mut_arr_add_obj(doc, triggers);
    add_text(doc, trigger, "id", binding->id);
    add_text(doc, trigger, "trigger_type", binding->trigger_type);
    add_json(doc, trigger, "config", binding->config);
  }
  return object;
}

struct function_filter {
  const char *search, *prefix, *worker;
  yyjson_val *workers;
  int internal;
};

static int in_array(yyjson_val *array, const char *text) {
  size_t index, count;
  yyjson_val *value;
  yyjson_arr_foreach(array, index, count, value) if (yyjson_equals_str(value, text)) return 1;
  return 0;
}

static int function_wanted(const struct function *function, const struct function_filter *filter) {
  char text[512];
  const char *id = function->group->id, *worker = cr_catalogue_worker(function, text);
  int hidden = (starts(id, "engine::") && !starts(id, "engine::queue::")) || function->internal;
  if (hidden && !filter->internal) return 0;
  if (filter->prefix && !starts(id, filter->prefix)) return 0;
  if (filter->worker && strcmp(worker, filter->worker) != 0) return 0;
  if (filter->workers && !in_array(filter->workers, worker)) return 0;
  return !filter->search || contains(id, filter->search) || contains(function->description, filter->search);
}

static int by_function(const void *a, const void *b) {
  const struct function *one = *(const struct function *const *)a, *two = *(const struct function *const *)b;
  int order = strcmp(one->group->id, two->group->id);
  return order ? order : strcmp(one->name_space, two->name_space);
}

// How well an id answers a search: it starts with it, has it, or only the description has it.
static int rank(const struct function *function, const char *search) {
  if (!strncasecmp(function->group->id, search, strlen(search))) return 0;
  return contains(function->group->id, search) ? 1 : 2;
}

static void functions_list(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct function_filter filter = {cr_optional_text(input, "search"), cr_optional_text(input, "prefix"),
                                   cr_optional_text(input, "worker"), yyjson_obj_get(input, "workers"),
                                   cr_optional_true(input, "include_internal")};
  if (!yyjson_is_arr(filter.workers)) filter.workers = NULL;
  struct text_list found = {0};
  struct function_id *group, *next;
  HASH_ITER(hh, engine->functions, group, next)
  for (struct function *function = group->first; function; function = function->next)
    if (function_wanted(function, &filter)) list_add(&found, function);
  if (found.count) qsort(found.items, found.count, sizeof *found.items, by_function);
  yyjson_mut_val *root;
  yyjson_mut_doc *doc = new_object(&root);
  yyjson_mut_val *functions = yyjson_mut_obj_add_arr(doc, root, "functions");
  for (int level = 0; level < (filter.search ? 3 : 1); level++)
    for (size_t i = 0; i < found.count; i++)
      if (!filter.search || rank(found.items[i], filter.search) == level)
        yyjson_mut_arr_append(functions, function_summary(doc, found.items[i]));
  free(found.items);
  cr_answer_doc(invocation, doc);
}

// The function in the namespace asked for, else in `default`, else in the only other one. `ambiguous`: there are
// several.
static struct function *choose(struct cr_engine *engine, const char *id, const char *name_space, int *ambiguous) {
  *ambiguous = 0;
  if (name_space) return cr_catalogue_find(engine, name_space, id);
  struct function *function = cr_catalogue_find(engine, DEFAULT_NAMESPACE, id);
  struct function_id *group = cr_catalogue_group(engine, id);
  if (function || !group) return function;
  *ambiguous = group->first->next != NULL;
  return *ambiguous ? NULL : group->first;
}

static void answer_ambiguous(struct cr_engine *engine, struct invocation *invocation, const char *id) {
  cr_autobuf names = CR_BUF(4096);
  for (struct function *at = cr_catalogue_group(engine, id)->first; at; at = at->next)
    cr_buf_printf(&names, "%.200s%s", at->name_space, at->next ? ", " : "");
  cr_answer_error(invocation, "NOT_FOUND", "Function '%s' is ambiguous: it is registered in namespace(s): %.*s", id,
                  (int)names.len, (const char *)names.data);
}

static void functions_info_batch(struct cr_engine *engine, struct invocation *invocation, yyjson_val *ids,
                                 const char *name_space) {
  yyjson_mut_val *root;
  yyjson_mut_doc *doc = new_object(&root);
  yyjson_mut_val *functions = yyjson_mut_obj_add_arr(doc, root, "functions");
  size_t index, count;
  yyjson_val *id;
  yyjson_arr_foreach(ids, index, count, id) {
    int ambiguous = 0;
    struct function *function = choose(engine, yyjson_get_str(id), name_space, &ambiguous);
    if (function) {
      yyjson_mut_arr_append(functions, function_detail(engine, doc, function));
      continue;
    }
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, functions);
    add_text(doc, object, "function_id", yyjson_get_str(id));
    add_text(doc, object, "error", "not_found");
  }
  cr_answer_doc(invocation, doc);
}

static int all_strings(yyjson_val *array) {
  size_t index, count;
  yyjson_val *value;
  yyjson_arr_foreach(array, index, count, value) if (!yyjson_is_str(value)) return 0;
  return yyjson_is_arr(array);
}

static void functions_info(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *id = cr_optional_text(input, "function_id"), *name_space = cr_optional_text(input, "namespace");
  yyjson_val *ids = yyjson_obj_get(input, "function_ids");
  if (yyjson_is_null(ids)) ids = NULL;
  if (!id == !ids || (ids && !all_strings(ids))) {
    cr_answer_error(invocation, "INVALID_ARGUMENTS", "give exactly one of `function_id` and `function_ids`");
    return;
  }
  if (ids && yyjson_arr_size(ids) > BATCH_MAX) {
    cr_answer_error(invocation, "INVALID_ARGUMENTS", "`function_ids` takes at most %d ids", BATCH_MAX);
    return;
  }
  if (ids) {
    functions_info_batch(engine, invocation, ids, name_space);
    return;
  }
  int ambiguous = 0;
  struct function *function = choose(engine, id, name_space, &ambiguous);
  if (ambiguous) {
    answer_ambiguous(engine, invocation, id);
  } else if (!function) {
    cr_answer_error(invocation, "NOT_FOUND", "Function '%s' is not registered.", id);
  } else {
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_doc_set_root(doc, function_detail(engine, doc, function));
    cr_answer_doc(invocation, doc);
  }
}

// --- triggers -----------------------------------------------------------------------------------------------------

static const char *type_worker(const struct trigger_type *type, char text[512]) {
  if (type->owner && type->owner->name) return type->owner->name;
  const char *colons = strstr(type->id, "::");
  snprintf(text, 512, "%.*s", (int)(colons && colons - type->id < 511 ? colons - type->id : 511), type->id);
  return text;
}

static yyjson_mut_val *type_summary(yyjson_mut_doc *doc, const struct trigger_type *type) {
  char worker[512];
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  add_text(doc, object, "id", type->id);
  add_text(doc, object, "namespace", type->name_space);
  add_text(doc, object, "worker_name", type_worker(type, worker));
  add_text(doc, object, "description", type->description);
  return object;
}

static yyjson_mut_val *type_detail(yyjson_mut_doc *doc, const struct trigger_type *type) {
  yyjson_mut_val *object = type_summary(doc, type);
  add_json(doc, object, "configuration_schema", type->config_format);
  add_json(doc, object, "request_schema", type->payload_format);
  uint64_t count = 0;
  for (const struct cr_list *at = type->bindings.next; at != &type->bindings; at = at->next) count++;
  yyjson_mut_obj_add_uint(doc, object, "instance_count", count);
  return object;
}

static int by_type(const void *a, const void *b) {
  const struct trigger_type *one = *(const struct trigger_type *const *)a,
                            *two = *(const struct trigger_type *const *)b;
  int order = strcmp(one->id, two->id);
  return order ? order : strcmp(one->name_space, two->name_space);
}

static void triggers_list(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *search = cr_optional_text(input, "search"), *prefix = cr_optional_text(input, "prefix");
  const char *worker = cr_optional_text(input, "worker");
  int internal = cr_optional_true(input, "include_internal");
  struct text_list found = {0};
  struct trigger_type *type, *next;
  HASH_ITER(hh, engine->types, type, next) {
    char text[512];
    if (!internal && starts(type->id, "engine::")) continue;
    if (prefix && !starts(type->id, prefix)) continue;
    if (worker && strcmp(type_worker(type, text), worker) != 0) continue;
    if (search && !contains(type->id, search) && !contains(type->description, search)) continue;
    list_add(&found, type);
  }
  if (found.count) qsort(found.items, found.count, sizeof *found.items, by_type);
  yyjson_mut_val *root;
  yyjson_mut_doc *doc = new_object(&root);
  yyjson_mut_val *triggers = yyjson_mut_obj_add_arr(doc, root, "triggers");
  for (size_t i = 0; i < found.count; i++) yyjson_mut_arr_append(triggers, type_summary(doc, found.items[i]));
  free(found.items);
  cr_answer_doc(invocation, doc);
}

static void triggers_info(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *id = cr_input_text(invocation, input, "id");
  if (!id) return;
  const char *name_space = cr_optional_text(input, "namespace");
  if (!name_space) name_space = DEFAULT_NAMESPACE;
  struct trigger_type *type = cr_trigger_type_find(engine, name_space, id);
  if (!type) {
    cr_answer_error(invocation, "NOT_FOUND", "Trigger type '%s' is not registered in namespace '%s'.", id, name_space);
    return;
  }
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_doc_set_root(doc, type_detail(doc, type));
  cr_answer_doc(invocation, doc);
}

static const char *binding_worker(struct cr_engine *engine, const struct binding *binding, char text[512]) {
  struct function *function = cr_catalogue_find(engine, binding->name_space, binding->function_id);
  if (function) return cr_catalogue_worker(function, text);
  const char *colons = strstr(binding->function_id, "::");
  snprintf(text, 512, "%.*s",
           (int)(colons && colons - binding->function_id < 511 ? colons - binding->function_id : 511),
           binding->function_id);
  return text;
}

// The first characters of a text, whole ones.
static char *summary_of(const char *json) {
  size_t at = 0, characters = 0;
  for (; json[at]; at++)
    if (((unsigned char)json[at] & 0xc0) != 0x80 && ++characters > SUMMARY_CHARACTERS) break;
  return json[at] ? cr_format("%.*s…", (int)at, json) : cr_strdup(json);
}

static yyjson_mut_val *binding_summary(struct cr_engine *engine, yyjson_mut_doc *doc, const struct binding *binding,
                                       int short_form) {
  char worker[512];
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  add_text(doc, object, "id", binding->id);
  add_text(doc, object, "trigger_type", binding->trigger_type);
  add_text(doc, object, "function_id", binding->function_id);
  add_text(doc, object, "worker_name", binding_worker(engine, binding, worker));
  add_json(doc, object, "config", binding->config);
  if (!short_form) return object;
  cr_autofree char *summary = summary_of(binding->config);
  add_text(doc, object, "config_summary", summary);
  return object;
}

static int by_binding(const void *a, const void *b) {
  return strcmp((*(const struct binding *const *)a)->id, (*(const struct binding *const *)b)->id);
}

static int binding_wanted(struct cr_engine *engine, const struct binding *binding, yyjson_val *input) {
  const char *search = cr_optional_text(input, "search"), *type = cr_optional_text(input, "trigger_type");
  const char *function = cr_optional_text(input, "function_id"), *worker = cr_optional_text(input, "worker");
  char text[512];
  if (!binding->provider) return 0;
  if (!cr_optional_true(input, "include_internal") && starts(binding->function_id, "engine::")) return 0;
  if (type && strcmp(binding->trigger_type, type) != 0) return 0;
  if (function && strcmp(binding->function_id, function) != 0) return 0;
  if (worker && strcmp(binding_worker(engine, binding, text), worker) != 0) return 0;
  return !search || contains(binding->id, search) || contains(binding->trigger_type, search) ||
         contains(binding->function_id, search);
}

static void bindings_list(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct text_list found = {0};
  struct binding *binding, *next;
  HASH_ITER(hh, engine->bindings, binding, next)
  if (binding_wanted(engine, binding, input)) list_add(&found, binding);
  if (found.count) qsort(found.items, found.count, sizeof *found.items, by_binding);
  yyjson_mut_val *root;
  yyjson_mut_doc *doc = new_object(&root);
  yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "registered_triggers");
  for (size_t i = 0; i < found.count; i++) yyjson_mut_arr_append(list, binding_summary(engine, doc, found.items[i], 1));
  free(found.items);
  cr_answer_doc(invocation, doc);
}

static void bindings_info(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *id = cr_input_text(invocation, input, "id");
  if (!id) return;
  struct binding *binding = NULL;
  HASH_FIND_STR(engine->bindings, id, binding);
  if (!binding) {
    cr_answer_error(invocation, "NOT_FOUND", "Registered trigger '%s' was not found.", id);
    return;
  }
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = binding_summary(engine, doc, binding, 0);
  yyjson_mut_doc_set_root(doc, root);
  add_json(doc, root, "metadata", binding->metadata);
  struct function *function = cr_catalogue_find(engine, binding->name_space, binding->function_id);
  yyjson_mut_obj_add_val(doc, root, "trigger",
                         binding->provider ? type_detail(doc, binding->provider) : yyjson_mut_null(doc));
  yyjson_mut_obj_add_val(doc, root, "function",
                         function ? function_detail(engine, doc, function) : yyjson_mut_null(doc));
  cr_answer_doc(invocation, doc);
}

// --- workers ------------------------------------------------------------------------------------------------------

static yyjson_mut_val *peer_summary(yyjson_mut_doc *doc, const struct peer *peer) {
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  uint64_t functions = 0;
  for (const struct cr_list *at = peer->functions.next; at != &peer->functions; at = at->next) functions++;
  add_text_or_null(doc, object, "name", peer->name);
  add_text_or_null(doc, object, "description", peer->description);
  add_text_or_null(doc, object, "version", peer->version);
  add_text(doc, object, "id", peer->id);
  add_text(doc, object, "namespace", peer->name_space ? peer->name_space : DEFAULT_NAMESPACE);
  add_text(doc, object, "runtime", peer->runtime ? peer->runtime : "unknown");
  add_text_or_null(doc, object, "os", peer->os);
  add_text(doc, object, "status", "connected");
  yyjson_mut_obj_add_uint(doc, object, "function_count", functions);
  yyjson_mut_obj_add_uint(doc, object, "connected_at_ms", peer->connected_at_ms);
  yyjson_mut_obj_add_uint(doc, object, "active_invocations", peer->executing_count);
  add_text_or_null(doc, object, "isolation", peer->isolation);
  add_text_or_null(doc, object, "ip_address", peer->address[0] ? peer->address : NULL);
  return object;
}

static uint64_t module_functions(struct cr_engine *engine, const char *module, yyjson_mut_doc *doc,
                                 yyjson_mut_val *list) {
  uint64_t count = 0;
  struct function_id *group, *next;
  HASH_ITER(hh, engine->functions, group, next) {
    char text[512];
    struct function *function = cr_catalogue_find(engine, DEFAULT_NAMESPACE, group->id);
    if (!function || function->owner || strcmp(cr_catalogue_worker(function, text), module) != 0) continue;
    count++;
    if (list) yyjson_mut_arr_append(list, function_summary(doc, function));
  }
  return count;
}

static yyjson_mut_val *module_summary(struct cr_engine *engine, yyjson_mut_doc *doc,
                                      const struct engine_module *module) {
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  add_text(doc, object, "name", module->name);
  add_text_or_null(doc, object, "description", NULL);
  add_text(doc, object, "version", CR_VERSION);
  add_text(doc, object, "id", module->id);
  add_text(doc, object, "namespace", DEFAULT_NAMESPACE);
  add_text(doc, object, "runtime", "engine");
  add_text_or_null(doc, object, "os", NULL);
  add_text(doc, object, "status", "available");
  yyjson_mut_obj_add_uint(doc, object, "function_count", module_functions(engine, module->name, doc, NULL));
  yyjson_mut_obj_add_uint(doc, object, "connected_at_ms", engine->started_at_ms);
  yyjson_mut_obj_add_uint(doc, object, "active_invocations", 0);
  add_text(doc, object, "isolation", "in-process");
  add_text_or_null(doc, object, "ip_address", NULL);
  return object;
}

static int by_peer(const void *a, const void *b) {
  const struct peer *one = *(const struct peer *const *)a, *two = *(const struct peer *const *)b;
  int order = strcmp(one->name ? one->name : "", two->name ? two->name : "");
  return order ? order : strcmp(one->id, two->id);
}

static int worker_wanted(yyjson_val *input, const char *name, const char *runtime, const char *status) {
  const char *search = cr_optional_text(input, "search"), *want_runtime = cr_optional_text(input, "runtime");
  const char *want_status = cr_optional_text(input, "status");
  return (!search || contains(name, search)) && (!want_runtime || !strcmp(want_runtime, runtime)) &&
         (!want_status || !strcmp(want_status, status));
}

static void workers_list(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct text_list found = {0};
  for (struct cr_list *at = engine->peers.next; at != &engine->peers; at = at->next) {
    struct peer *peer = cr_list_item(at, struct peer, link);
    if (peer->pid >= 0 && worker_wanted(input, peer->name, peer->runtime ? peer->runtime : "unknown", "connected"))
      list_add(&found, peer);
  }
  if (found.count) qsort(found.items, found.count, sizeof *found.items, by_peer);
  yyjson_mut_val *root;
  yyjson_mut_doc *doc = new_object(&root);
  yyjson_mut_val *workers = yyjson_mut_obj_add_arr(doc, root, "workers");
  size_t module = 0, peer = 0;
  while (module < MODULES || peer < found.count) {
    const struct peer *one = peer < found.count ? found.items[peer] : NULL;
    const char *name = one && one->name ? one->name : "";
    if (module < MODULES && (!one || strcmp(engine->modules[module].name, name) <= 0)) {
      if (worker_wanted(input, engine->modules[module].name, "engine", "available"))
        yyjson_mut_arr_append(workers, module_summary(engine, doc, &engine->modules[module]));
      module++;
    } else {
      yyjson_mut_arr_append(workers, peer_summary(doc, one));
      peer++;
    }
  }
  free(found.items);
  cr_answer_doc(invocation, doc);
}

static const struct engine_module *find_module(struct cr_engine *engine, const char *name, const char *name_space) {
  if (name_space && strcmp(name_space, DEFAULT_NAMESPACE) != 0) return NULL;
  for (size_t i = 0; i < MODULES; i++)
    if (!strcmp(engine->modules[i].name, name)) return &engine->modules[i];
  return NULL;
}

// As choose(), by worker name; `count` is how many have it.
static struct peer *find_worker(struct cr_engine *engine, const char *name, const char *name_space, int *count) {
  struct peer *found = NULL;
  *count = 0;
  for (struct cr_list *at = engine->peers.next; at != &engine->peers; at = at->next) {
    struct peer *peer = cr_list_item(at, struct peer, link);
    if (!peer->name || !peer->settled || strcmp(peer->name, name) != 0) continue;
    if (name_space && strcmp(peer->name_space, name_space) != 0) continue;
    int preferred = !strcmp(peer->name_space, DEFAULT_NAMESPACE);
    if (!found || preferred || strcmp(peer->name_space, found->name_space) != 0) ++*count;
    if (!found || preferred) found = peer;
    if (preferred) break;
  }
  if (found && !strcmp(found->name_space, DEFAULT_NAMESPACE)) *count = 1;
  return found;
}

static void peer_info(struct cr_engine *engine, yyjson_mut_doc *doc, yyjson_mut_val *root, const struct peer *peer) {
  yyjson_mut_val *worker = peer_summary(doc, peer);
  if (peer->pid >= 0) yyjson_mut_obj_add_uint(doc, worker, "pid", (uint64_t)peer->pid);
  yyjson_mut_obj_add_bool(doc, worker, "internal", false);
  yyjson_mut_obj_add_val(doc, root, "worker", worker);
  yyjson_mut_val *functions = yyjson_mut_obj_add_arr(doc, root, "functions");
  yyjson_mut_val *types = yyjson_mut_obj_add_arr(doc, root, "trigger_types");
  yyjson_mut_val *triggers = yyjson_mut_obj_add_arr(doc, root, "registered_triggers");
  for (const struct cr_list *at = peer->functions.next; at != &peer->functions; at = at->next)
    yyjson_mut_arr_append(functions, function_summary(doc, cr_list_item(at, struct function, link)));
  for (const struct cr_list *at = peer->types.next; at != &peer->types; at = at->next)
    yyjson_mut_arr_append(types, type_summary(doc, cr_list_item(at, struct trigger_type, link)));
  for (const struct cr_list *at = peer->bindings.next; at != &peer->bindings; at = at->next) {
    const struct binding *binding = cr_list_item(at, struct binding, link);
    if (binding->provider) yyjson_mut_arr_append(triggers, binding_summary(engine, doc, binding, 1));
  }
}

static void workers_info(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *name = cr_input_text(invocation, input, "name"), *name_space = cr_optional_text(input, "namespace");
  if (!name) return;
  int count = 0;
  const struct engine_module *module = find_module(engine, name, name_space);
  struct peer *peer = module ? NULL : find_worker(engine, name, name_space, &count);
  if (!module && (!peer || count > 1)) {
    cr_answer_error(
        invocation, "NOT_FOUND",
        peer ? "Worker '%s' is ambiguous: it is connected in several namespaces." : "Worker '%s' is not connected.",
        name);
    return;
  }
  yyjson_mut_val *root;
  yyjson_mut_doc *doc = new_object(&root);
  if (peer) {
    peer_info(engine, doc, root, peer);
  } else {
    yyjson_mut_val *worker = module_summary(engine, doc, module);
    yyjson_mut_obj_add_bool(doc, worker, "internal", true);
    yyjson_mut_obj_add_val(doc, root, "worker", worker);
    module_functions(engine, name, doc, yyjson_mut_obj_add_arr(doc, root, "functions"));
    yyjson_mut_obj_add_arr(doc, root, "trigger_types");
    yyjson_mut_obj_add_arr(doc, root, "registered_triggers");
  }
  cr_answer_doc(invocation, doc);
}

// --- all of them --------------------------------------------------------------------------------------------------

void cr_describe_start(struct cr_engine *engine) {
  static const struct {
    const char *id, *description;
    builtin *run;
  } all[] = {
      {"engine::functions::list", "Functions on the bus", functions_list},
      {"engine::functions::info", "One function, or up to 32, with schemas and triggers", functions_info},
      {"engine::triggers::list", "Trigger types", triggers_list},
      {"engine::triggers::info", "One trigger type with its schemas", triggers_info},
      {"engine::registered-triggers::list", "Bindings of functions to trigger types", bindings_list},
      {"engine::registered-triggers::info", "One binding with its type and function", bindings_info},
      {"engine::workers::list", "Connected workers and the engine's own modules", workers_list},
      {"engine::workers::info", "One worker with what it registered", workers_info},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    cr_builtin_register(engine, all[i].id, all[i].description, all[i].run);
}
