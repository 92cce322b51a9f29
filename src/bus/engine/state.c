// state::* (spec 8): a key-value store in memory, and in one JSON file if asked for.
#include "bus/engine/state_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bus/engine/internal.h"
#include "bus/engine/store.h"

#define STATE_MAX (256u << 20)  // bytes of everything
#define FLUSH_MS 5000

struct entry {
  char *key, *value;
  size_t length;
  UT_hash_handle hh;  // uthash keeps the order of insertion
};

struct scope {
  char *name;
  struct entry *entries;
  UT_hash_handle hh;
};

struct state_store {
  struct cr_engine *engine;
  struct scope *scopes;
  size_t bytes;
  char *file;
  int dirty;
  struct cr_alarm flush;
};

static struct scope *find_scope(struct state_store *store, const char *name) {
  struct scope *scope = NULL;
  HASH_FIND_STR(store->scopes, name, scope);
  return scope;
}

static struct entry *find_entry(struct state_store *store, const char *scope_name, const char *key) {
  struct scope *scope = find_scope(store, scope_name);
  struct entry *entry = NULL;
  if (scope) HASH_FIND_STR(scope->entries, key, entry);
  return entry;
}

static size_t weight(const char *scope, const char *key, size_t length) {
  return sizeof(struct entry) + strlen(scope) + strlen(key) + length;
}

static void touch(struct state_store *store) {
  if (!store->file || store->dirty) return;
  store->dirty = 1;
  cr_alarm_set(store->engine->alarms, &store->flush, FLUSH_MS);
}

// Takes `value`. -1 when the store is full; the value is then freed.
static int put(struct state_store *store, const char *scope_name, const char *key, char *value, size_t length) {
  struct entry *entry = find_entry(store, scope_name, key);
  size_t old = entry ? entry->length : 0;
  size_t more = entry ? length : weight(scope_name, key, length);
  if (store->bytes - old + more > STATE_MAX) {
    free(value);
    return -1;
  }
  store->bytes += more - old;
  if (!entry) {
    struct scope *scope = find_scope(store, scope_name);
    if (!scope) {
      scope = cr_alloc(sizeof *scope);
      scope->name = cr_strdup(scope_name);
      HASH_ADD_KEYPTR(hh, store->scopes, scope->name, strlen(scope->name), scope);
    }
    entry = cr_alloc(sizeof *entry);
    entry->key = cr_strdup(key);
    HASH_ADD_KEYPTR(hh, scope->entries, entry->key, strlen(entry->key), entry);
  }
  free(entry->value);
  entry->value = value;
  entry->length = length;
  touch(store);
  return 0;
}

static void scope_drop_if_empty(struct state_store *store, struct scope *scope) {
  if (scope->entries) return;
  HASH_DEL(store->scopes, scope);
  free(scope->name);
  free(scope);
}

static void drop(struct state_store *store, struct scope *scope, struct entry *entry) {
  store->bytes -= weight(scope->name, entry->key, entry->length);
  HASH_DEL(scope->entries, entry);
  free(entry->key);
  free(entry->value);
  free(entry);
  touch(store);
}

// --- events -------------------------------------------------------------------------------------------------------

struct change {
  const char *scope, *key;
};

static int wants(yyjson_val *config, const void *of) {
  const struct change *change = of;
  const char *scope = cr_optional_text(config, "scope"), *key = cr_optional_text(config, "key");
  return (!scope || !strcmp(scope, change->scope)) && (!key || !strcmp(key, change->key));
}

static void fire(struct state_store *store, const char *what, const struct change *change, const char *old_value,
                 const char *new_value) {
  if (!cr_event_wanted(store->engine, "state")) return;
  cr_autobuf payload = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&payload);
  cr_write_text(&writer, "type", "state");
  cr_write_text(&writer, "event_type", what);
  cr_write_text(&writer, "scope", change->scope);
  cr_write_text(&writer, "key", change->key);
  cr_write_json(&writer, "old_value", old_value ? old_value : "null", old_value ? strlen(old_value) : 4);
  cr_write_json(&writer, "new_value", new_value ? new_value : "null", new_value ? strlen(new_value) : 4);
  if (cr_writer_close(&writer)) return;
  struct event event = {
      .type = "state", .payload = (const char *)payload.data, .length = payload.len, .match = wants, .of = change};
  cr_event_fire(store->engine, &event);
}

// --- functions ----------------------------------------------------------------------------------------------------

// {"old_value":…,"new_value":…[,"errors":…]}
static void answer_change(struct invocation *invocation, const char *old_value, const char *new_value,
                          const char *errors) {
  cr_autobuf json = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&json);
  cr_write_json(&writer, "old_value", old_value ? old_value : "null", old_value ? strlen(old_value) : 4);
  cr_write_json(&writer, "new_value", new_value, strlen(new_value));
  if (errors) cr_write_json(&writer, "errors", errors, strlen(errors));
  if (cr_writer_close(&writer))
    cr_answer_error(invocation, "serialization_error", "the values are too large");
  else
    cr_answer_json(invocation, (const char *)json.data, json.len);
}

// Stores `value` (taken), answers and fires.
static void change_and_answer(struct invocation *invocation, const struct change *change, char *value, size_t length,
                              const char *errors, const char *full_code) {
  struct state_store *store = invocation->engine->state;
  struct entry *entry = find_entry(store, change->scope, change->key);
  cr_autofree char *old_value = entry ? cr_strndup(entry->value, entry->length) : NULL;
  cr_autofree char *new_value = cr_strndup(value, length);
  if (put(store, change->scope, change->key, value, length)) {
    cr_answer_error(invocation, full_code, "the state store is full (%u MiB)", STATE_MAX >> 20);
    return;
  }
  fire(store, old_value ? "state:updated" : "state:created", change, old_value, new_value);
  answer_change(invocation, old_value, new_value, errors);
}

static int read_change(struct invocation *invocation, yyjson_val *input, struct change *change) {
  return (change->scope = cr_input_text(invocation, input, "scope")) &&
         (change->key = cr_input_text(invocation, input, "key"));
}

static void state_set(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine;
  struct change change;
  if (!read_change(invocation, input, &change)) return;
  yyjson_val *value = yyjson_obj_get(input, "value");
  if (!value) value = yyjson_obj_get(input, "data");
  if (!value && !(value = cr_input_any(invocation, input, "value"))) return;
  size_t length = 0;
  char *text = cr_value_text(value, &length);
  change_and_answer(invocation, &change, text, length, NULL, "SET_ERROR");
}

static void state_get(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct change change;
  if (!read_change(invocation, input, &change)) return;
  struct entry *entry = find_entry(engine->state, change.scope, change.key);
  if (entry)
    cr_answer_json(invocation, entry->value, entry->length);
  else
    cr_answer_none(invocation);
}

static void state_delete(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct change change;
  if (!read_change(invocation, input, &change)) return;
  struct entry *entry = find_entry(engine->state, change.scope, change.key);
  cr_autofree char *old_value = entry ? cr_strndup(entry->value, entry->length) : NULL;
  if (entry) {
    struct scope *scope = find_scope(engine->state, change.scope);
    drop(engine->state, scope, entry);
    scope_drop_if_empty(engine->state, scope);
  }
  fire(engine->state, "state:deleted", &change, old_value, NULL);
  if (old_value)
    cr_answer_json(invocation, old_value, strlen(old_value));
  else
    cr_answer_none(invocation);
}

static void state_update(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct change change;
  if (!read_change(invocation, input, &change)) return;
  yyjson_val *ops = cr_input_any(invocation, input, "ops");
  if (!ops) return;
  if (!cr_state_ops_known(ops)) {
    cr_answer_error(invocation, "deserialization_error",
                    "Failed to deserialize input for state::update: `ops` must be an array of operations");
    return;
  }
  struct entry *entry = find_entry(engine->state, change.scope, change.key);
  yyjson_doc *present =
      entry ? yyjson_read_opts(entry->value, entry->length, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL) : NULL;
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = present ? yyjson_val_mut_copy(doc, yyjson_doc_get_root(present)) : NULL;
  yyjson_mut_val *errors = yyjson_mut_arr(doc);
  root = cr_state_ops(doc, root, ops, errors);
  size_t length = 0;
  char *value = yyjson_mut_val_write(root, YYJSON_WRITE_NOFLAG, &length);
  cr_autofree char *problems =
      yyjson_mut_arr_size(errors) ? yyjson_mut_val_write(errors, YYJSON_WRITE_NOFLAG, NULL) : NULL;
  yyjson_mut_doc_free(doc);
  yyjson_doc_free(present);
  if (value)
    change_and_answer(invocation, &change, value, length, problems, "UPDATE_ERROR");
  else
    cr_answer_error(invocation, "UPDATE_ERROR", "the value cannot be written");
}

static void state_list(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *name = cr_input_text(invocation, input, "scope");
  if (!name) return;
  struct scope *scope = find_scope(engine->state, name);
  cr_autobuf json = CR_BUF(FRAME_MAX);
  int failed = cr_buf_append(&json, "[", 1);
  struct entry *entry, *next;
  struct entry *entries = scope ? scope->entries : NULL;
  HASH_ITER(hh, entries, entry, next) {
    if (json.len > 1) failed |= cr_buf_append(&json, ",", 1);
    failed |= cr_buf_append(&json, entry->value, entry->length);
  }
  if (failed || cr_buf_append(&json, "]", 1))
    cr_answer_error(invocation, "LIST_ERROR", "the values of the scope are too large for one message");
  else
    cr_answer_json(invocation, (const char *)json.data, json.len);
}

static int by_name(const struct scope *one, const struct scope *two) { return strcmp(one->name, two->name); }

static void state_list_groups(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)input;
  HASH_SORT(engine->state->scopes, by_name);
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc), *groups = yyjson_mut_obj_add_arr(doc, root, "groups");
  yyjson_mut_doc_set_root(doc, root);
  struct scope *scope, *next;
  HASH_ITER(hh, engine->state->scopes, scope, next) yyjson_mut_arr_add_strcpy(doc, groups, scope->name);
  cr_answer_doc(invocation, doc);
}

// --- the file -----------------------------------------------------------------------------------------------------

static int write_scope(struct cr_buf *out, struct scope *scope) {
  struct cr_writer writer = cr_writer_open(out);
  struct entry *entry, *next;
  HASH_ITER(hh, scope->entries, entry, next) cr_write_json(&writer, entry->key, entry->value, entry->length);
  return cr_writer_close(&writer);
}

static void flush(struct state_store *store) {
  if (!store->dirty) return;
  cr_autobuf out = CR_BUF(2 * (size_t)STATE_MAX);
  struct cr_writer writer = cr_writer_open(&out);
  struct scope *scope, *next;
  HASH_ITER(hh, store->scopes, scope, next) {
    cr_write_json(&writer, scope->name, "", 0);
    writer.failed |= write_scope(&out, scope);
  }
  struct cr_error err = {0};
  if (cr_writer_close(&writer) || cr_store_write(store->file, out.data, out.len, &err)) {
    cr_log(CR_LOG_ERROR, "engine: the state is not saved: %s", err.message ? err.message : "out of memory");
    cr_error_clear(&err);
    cr_alarm_set(store->engine->alarms, &store->flush, FLUSH_MS);
    return;
  }
  store->dirty = 0;
}

static void on_flush(struct cr_alarm *alarm) { flush(cr_list_item(alarm, struct state_store, flush)); }

static void load_scope(struct state_store *store, const char *name, yyjson_val *entries) {
  size_t index, count;
  yyjson_val *key, *value;
  yyjson_obj_foreach(entries, index, count, key, value) {
    size_t length = 0;
    char *text = cr_value_text(value, &length);
    put(store, name, yyjson_get_str(key), text, length);
  }
}

static int load(struct state_store *store, struct cr_error *err) {
  cr_autobuf text = CR_BUF(2 * (size_t)STATE_MAX);
  int missing = cr_store_read(store->file, &text, err);
  if (missing) return missing < 0 ? -1 : 0;
  yyjson_doc *doc = yyjson_read_opts((char *)text.data, text.len, YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  yyjson_val *root = yyjson_doc_get_root(doc), *key, *value;
  if (!yyjson_is_obj(root)) {
    yyjson_doc_free(doc);
    return cr_error_set(err, CR_ENGINE, "the state file %s is not a JSON object", store->file);
  }
  size_t index, count;
  yyjson_obj_foreach(root, index, count, key, value) load_scope(store, yyjson_get_str(key), value);
  yyjson_doc_free(doc);
  cr_alarm_clear(store->engine->alarms, &store->flush);
  store->dirty = 0;
  return 0;
}

static const char *refuse_binding(yyjson_val *config) {
  return yyjson_is_obj(config) || yyjson_is_null(config) ? NULL : "the config of a state trigger must be an object";
}

int cr_state_start(struct cr_engine *engine, const char *file, struct cr_error *err) {
  static const struct {
    const char *id, *description;
    builtin *run;
  } all[] = {
      {"state::set", "Stores a value under scope and key", state_set},
      {"state::get", "The value under scope and key", state_get},
      {"state::delete", "Removes a value", state_delete},
      {"state::update", "Applies operations to a value, all at once", state_update},
      {"state::list", "The values of a scope", state_list},
      {"state::list_groups", "The scopes", state_list_groups},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    cr_builtin_register(engine, all[i].id, all[i].description, all[i].run);
  cr_trigger_type_builtin(engine, "state", "A value of the state store changed", refuse_binding);
  struct state_store *store = engine->state = cr_alloc(sizeof *store);
  store->engine = engine;
  store->flush.ring = on_flush;
  store->file = cr_copied(file);
  return file ? load(store, err) : 0;
}

void cr_state_free(struct cr_engine *engine) {
  struct state_store *store = engine->state;
  if (!store) return;
  flush(store);
  cr_alarm_clear(engine->alarms, &store->flush);
  struct scope *scope, *next_scope;
  HASH_ITER(hh, store->scopes, scope, next_scope) {
    struct entry *entry, *next;
    HASH_ITER(hh, scope->entries, entry, next) drop(store, scope, entry);
    scope_drop_if_empty(store, scope);
  }
  free(store->file);
  free(store);
  engine->state = NULL;
}
