// configuration::* (spec 7): a registry of typed settings, kept in one YAML file each.
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/log.h"
#include "bus/engine/config_file.h"
#include "bus/engine/expand.h"
#include "bus/engine/internal.h"
#include "bus/engine/schema.h"
#include "bus/engine/store.h"

#define ENTRIES_MAX 1024
#define ENTRY_MAX (1u << 20)  // bytes of a schema, a value, a file
#define DEBOUNCE_MS 500

// What a file looked like when it was last read or written: the watcher skips it until it differs.
struct seen {
  ino_t inode;
  off_t size;
  struct timespec changed;
};

struct config_entry {
  char *id, *name, *description;
  char *schema;    // JSON text; NULL: not known (after a restart)
  char *value;     // JSON text, templates as they are
  char *metadata;  // JSON text, or NULL
  char *path;      // of its file; NULL: never written
  struct seen seen;
  int found;  // in the scan that is running
  UT_hash_handle hh;
};

struct config_store {
  struct cr_engine *engine;
  char *directory;
  struct config_entry *entries;
  uv_fs_event_t *watcher;  // NULL: the directory does not exist yet
  struct cr_alarm rescan;
};

static struct config_entry *find(struct config_store *store, const char *id) {
  struct config_entry *entry = NULL;
  HASH_FIND_STR(store->entries, id, entry);
  return entry;
}

static int is_valid_id(const char *id) {
  size_t length = strlen(id);
  return length >= 1 && length <= 64 && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

static void replace(char **field, char *value) {
  free(*field);
  *field = value;
}

static struct config_entry *add(struct config_store *store, const char *id) {
  struct config_entry *entry = cr_alloc(sizeof *entry);
  entry->id = cr_strdup(id);
  entry->name = cr_strdup("");
  entry->description = cr_strdup("");
  entry->value = cr_strdup("null");
  HASH_ADD_KEYPTR(hh, store->entries, entry->id, strlen(entry->id), entry);
  return entry;
}

static void entry_free(struct config_store *store, struct config_entry *entry) {
  HASH_DEL(store->entries, entry);
  free(entry->id);
  free(entry->name);
  free(entry->description);
  free(entry->schema);
  free(entry->value);
  free(entry->metadata);
  free(entry->path);
  free(entry);
}

// --- values -------------------------------------------------------------------------------------------------------

static yyjson_doc *parse(const char *json) {
  yyjson_doc *doc = yyjson_read_opts((char *)json, strlen(json), YYJSON_READ_NUMBER_AS_RAW, NULL, NULL);
  if (!doc) cr_out_of_memory();
  return doc;
}

// The value with everything replaced that can be; `unset` as in cr_expand.
static yyjson_doc *expanded(const char *value, struct cr_buf *unset) {
  yyjson_doc *raw = parse(value);
  yyjson_mut_doc *work = yyjson_mut_doc_new(NULL);
  yyjson_mut_doc_set_root(work, cr_expand(work, yyjson_doc_get_root(raw), unset));
  yyjson_doc *doc = yyjson_mut_doc_imut_copy(work, NULL);
  if (!doc) cr_out_of_memory();
  yyjson_mut_doc_free(work);
  yyjson_doc_free(raw);
  return doc;
}

// 0, or -1 with the reasons in `errors`. A value with placeholders that cannot be replaced is not checked.
static int validate(const char *schema, const char *value, struct cr_buf *errors) {
  if (!schema) return 0;
  cr_autobuf unset = CR_BUF(65536);
  yyjson_doc *doc = expanded(value, &unset), *rules = parse(schema);
  int failed = unset.len ? 0 : cr_schema_check(yyjson_doc_get_root(rules), yyjson_doc_get_root(doc), errors);
  yyjson_doc_free(rules);
  yyjson_doc_free(doc);
  return failed;
}

// --- files --------------------------------------------------------------------------------------------------------

static void remember(struct config_entry *entry) {
  struct stat st;
  if (!entry->path || stat(entry->path, &st)) return;
  entry->seen = (struct seen){st.st_ino, st.st_size, st.st_mtim};
}

static int is_unchanged(const struct config_entry *entry, const struct stat *st) {
  return entry->seen.inode == st->st_ino && entry->seen.size == st->st_size &&
         entry->seen.changed.tv_sec == st->st_mtim.tv_sec && entry->seen.changed.tv_nsec == st->st_mtim.tv_nsec;
}

static void watch(struct config_store *store);

static int directory_make(struct config_store *store, struct cr_error *err) {
  if (mkdir(store->directory, 0700) && errno != EEXIST)
    return cr_error_set(err, CR_ENGINE, "cannot make the directory %s: %s", store->directory, strerror(errno));
  watch(store);
  return 0;
}

static int save(struct config_store *store, struct config_entry *entry, const char *value, struct cr_error *err) {
  yyjson_doc *doc = parse(value), *metadata = entry->metadata ? parse(entry->metadata) : NULL;
  struct config_parts parts = {entry->id, entry->name, entry->description, yyjson_doc_get_root(doc),
                               yyjson_doc_get_root(metadata)};
  cr_autobuf text = CR_BUF(2 * (size_t)ENTRY_MAX);
  int failed = cr_config_file_write(&parts, &text, err);
  yyjson_doc_free(doc);
  yyjson_doc_free(metadata);
  if (failed || directory_make(store, err)) return -1;
  if (!entry->path) entry->path = cr_format("%s/%s.yaml", store->directory, entry->id);
  if (cr_store_write(entry->path, text.data, text.len, err)) return -1;
  remember(entry);
  return 0;
}

// --- events -------------------------------------------------------------------------------------------------------

struct change {
  const char *event_type, *id;
};

static int wants(yyjson_val *config, const void *of) {
  const struct change *change = of;
  const char *id = cr_optional_text(config, "configuration_id");
  yyjson_val *types = yyjson_obj_get(config, "event_types"), *type;
  if (id && strcmp(id, change->id) != 0) return 0;
  if (!yyjson_is_arr(types)) return 1;
  size_t index, count;
  yyjson_arr_foreach(types, index, count, type) if (yyjson_equals_str(type, change->event_type)) return 1;
  return 0;
}

static const char *refuse_binding(yyjson_val *config) {
  if (!yyjson_is_obj(config) && !yyjson_is_null(config))
    return "the config of a configuration trigger must be an object";
  yyjson_val *types = yyjson_obj_get(config, "event_types");
  return types && !yyjson_is_arr(types) && !yyjson_is_null(types) ? "`event_types` must be an array" : NULL;
}

static void write_expanded(struct cr_writer *writer, const char *name, const char *value) {
  if (!value) {
    cr_write_json(writer, name, "null", 4);
    return;
  }
  cr_autobuf unset = CR_BUF(65536);
  yyjson_doc *doc = expanded(value, &unset);
  cr_write_value(writer, name, yyjson_doc_get_root(doc));
  yyjson_doc_free(doc);
}

static void fire(struct config_store *store, const char *what, const struct config_entry *entry, const char *old_value,
                 const char *new_value) {
  if (!cr_event_wanted(store->engine, "configuration")) return;
  cr_autobuf payload = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&payload);
  cr_write_text(&writer, "type", "configuration");
  cr_write_text(&writer, "event_type", what);
  cr_write_text(&writer, "id", entry->id);
  cr_write_text(&writer, "name", entry->name);
  cr_write_text(&writer, "description", entry->description);
  cr_write_json(&writer, "schema", entry->schema ? entry->schema : "null", entry->schema ? strlen(entry->schema) : 4);
  write_expanded(&writer, "old_value", old_value);
  write_expanded(&writer, "new_value", new_value);
  if (entry->metadata) cr_write_json(&writer, "metadata", entry->metadata, strlen(entry->metadata));
  if (cr_writer_close(&writer)) return;
  struct change change = {what, entry->id};
  struct event event = {.type = "configuration",
                        .payload = (const char *)payload.data,
                        .length = payload.len,
                        .match = wants,
                        .of = &change};
  cr_event_fire(store->engine, &event);
}

// --- edits from outside -------------------------------------------------------------------------------------------

static void take_texts(struct config_entry *entry, yyjson_val *root) {
  yyjson_val *metadata = yyjson_obj_get(root, "metadata");
  replace(&entry->name, cr_strdup(yyjson_get_str(yyjson_obj_get(root, "name"))));
  replace(&entry->description, cr_strdup(yyjson_get_str(yyjson_obj_get(root, "description"))));
  if (yyjson_is_null(metadata)) metadata = NULL;
  replace(&entry->metadata, cr_value_text(metadata, NULL));
}

static int differs(const struct config_entry *entry, yyjson_val *root, const char *value) {
  return strcmp(entry->value, value) != 0 || !yyjson_equals_str(yyjson_obj_get(root, "name"), entry->name) ||
         !yyjson_equals_str(yyjson_obj_get(root, "description"), entry->description);
}

static void take_edit(struct config_store *store, struct config_entry *entry, yyjson_val *root, char *value) {
  cr_autobuf unset = CR_BUF(65536), errors = CR_BUF(65536);
  yyjson_doc_free(expanded(value, &unset));
  if (unset.len || validate(entry->schema, value, &errors)) {
    cr_log(CR_LOG_WARN, "engine: the edit of configuration %s is dropped: %.*s", entry->id,
           (int)(unset.len ? unset.len : errors.len), (const char *)(unset.len ? unset.data : errors.data));
    free(value);
    return;
  }
  char *old = entry->value;
  entry->value = value;
  take_texts(entry, root);
  fire(store, "configuration:updated", entry, old, entry->value);
  free(old);
}

static void take_file(struct config_store *store, const char *path, const struct stat *st, yyjson_val *root,
                      int starting) {
  const char *id = yyjson_get_str(yyjson_obj_get(root, "id"));
  struct config_entry *entry = find(store, id);
  char *value = cr_value_text(yyjson_obj_get(root, "value"), NULL);
  int fresh = !entry;
  if (!is_valid_id(id) || (fresh && HASH_COUNT(store->entries) >= ENTRIES_MAX)) {
    cr_log(CR_LOG_WARN, "engine: %s is skipped: its id is not usable", path);
    free(value);
    return;
  }
  if (fresh) entry = add(store, id);
  entry->found = 1;
  entry->seen = (struct seen){st->st_ino, st->st_size, st->st_mtim};
  replace(&entry->path, cr_strdup(path));
  if (fresh) {
    replace(&entry->value, value);
    take_texts(entry, root);
    if (!starting) fire(store, "configuration:registered", entry, NULL, entry->value);
  } else if (differs(entry, root, value)) {
    take_edit(store, entry, root, value);
  } else {
    free(value);
  }
}

static struct config_entry *entry_of(struct config_store *store, const char *path) {
  struct config_entry *entry, *next;
  HASH_ITER(hh, store->entries, entry, next) if (entry->path && !strcmp(entry->path, path)) return entry;
  return NULL;
}

static void read_file(struct config_store *store, const char *path, int starting) {
  struct stat st;
  struct config_entry *known = entry_of(store, path);
  if (stat(path, &st) || !S_ISREG(st.st_mode)) return;
  if (known) known->found = 1;
  if (known && is_unchanged(known, &st)) return;
  cr_autobuf text = CR_BUF(2 * (size_t)ENTRY_MAX);
  struct cr_error err = {0};
  yyjson_doc *doc = NULL;
  if (!cr_store_read(path, &text, &err)) doc = cr_config_file_read((const char *)text.data, text.len, &err);
  if (doc)
    take_file(store, path, &st, yyjson_doc_get_root(doc), starting);
  else
    cr_log(CR_LOG_WARN, "engine: %s is skipped: %s", path, err.message ? err.message : "it is gone");
  yyjson_doc_free(doc);
  cr_error_clear(&err);
}

static int has_suffix(const char *name, const char *suffix) {
  size_t length = strlen(name), end = strlen(suffix);
  return length > end && !strcmp(name + length - end, suffix);
}

static void scan(struct config_store *store, int starting) {
  struct config_entry *entry, *next;
  DIR *directory = opendir(store->directory);
  if (!directory) return;
  HASH_ITER(hh, store->entries, entry, next) entry->found = 0;
  for (struct dirent *file; (file = readdir(directory));) {
    if (!has_suffix(file->d_name, ".yaml")) continue;
    cr_autofree char *path = cr_format("%s/%s", store->directory, file->d_name);
    read_file(store, path, starting);
  }
  closedir(directory);
  HASH_ITER(hh, store->entries, entry, next) {
    if (entry->found || !entry->path) continue;
    fire(store, "configuration:deleted", entry, entry->value, NULL);
    entry_free(store, entry);
  }
}

static void on_rescan(struct cr_alarm *alarm) { scan(cr_list_item(alarm, struct config_store, rescan), 0); }

static void on_change(uv_fs_event_t *watcher, const char *name, int events, int status) {
  struct config_store *store = watcher->data;
  (void)name, (void)events;
  if (store && status >= 0) cr_alarm_set(store->engine->alarms, &store->rescan, DEBOUNCE_MS);
}

static void on_watcher_closed(uv_handle_t *handle) { free(handle); }

static void watch(struct config_store *store) {
  if (store->watcher) return;
  uv_fs_event_t *watcher = cr_alloc(sizeof *watcher);
  uv_fs_event_init(store->engine->loop, watcher);
  watcher->data = store;
  if (!uv_fs_event_start(watcher, on_change, store->directory, 0)) {
    store->watcher = watcher;
    return;
  }
  watcher->data = NULL;
  uv_close((uv_handle_t *)watcher, on_watcher_closed);
}

// --- functions ----------------------------------------------------------------------------------------------------

static void write_view(struct cr_writer *writer, const struct config_entry *entry, int with_value) {
  cr_write_text(writer, "id", entry->id);
  cr_write_text(writer, "name", entry->name);
  cr_write_text(writer, "description", entry->description);
  cr_write_json(writer, "schema", entry->schema ? entry->schema : "null", entry->schema ? strlen(entry->schema) : 4);
  if (with_value) cr_write_json(writer, "value", entry->value, strlen(entry->value));
  if (entry->metadata) cr_write_json(writer, "metadata", entry->metadata, strlen(entry->metadata));
}

static void answer_writer(struct invocation *invocation, struct cr_writer *writer) {
  if (cr_writer_close(writer))
    cr_answer_error(invocation, "serialization_error", "the answer is too large");
  else
    cr_answer_json(invocation, (const char *)writer->buf->data, writer->buf->len);
}

static void answer_view(struct invocation *invocation, const struct config_entry *entry, int with_value) {
  cr_autobuf json = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&json);
  write_view(&writer, entry, with_value);
  answer_writer(invocation, &writer);
}

static int check_id(struct invocation *invocation, const char *id) {
  if (is_valid_id(id)) return 0;
  cr_answer_error(invocation, "INVALID_ID", "invalid configuration id '%.200s': must match [a-z0-9_-]{1,64}", id);
  return -1;
}

static int check_sizes(struct invocation *invocation, const char *schema, const char *value) {
  if (strlen(value) <= ENTRY_MAX && (!schema || strlen(schema) <= ENTRY_MAX)) return 0;
  cr_answer_error(invocation, "ADAPTER_ERROR", "a configuration value and its schema may have at most 1 MiB each");
  return -1;
}

static int check_value(struct invocation *invocation, const char *schema, const char *value) {
  cr_autobuf errors = CR_BUF(65536);
  if (!validate(schema, value, &errors)) return 0;
  cr_answer_error(invocation, "SCHEMA_INVALID", "schema validation failed: %.*s", (int)errors.len,
                  (const char *)errors.data);
  return -1;
}

// Saves `value` (taken) with the rest of the entry, then makes it the entry's. On failure the call is answered.
static int commit(struct invocation *invocation, struct config_entry *entry, char *value) {
  struct cr_error err = {0};
  if (!save(invocation->engine->configuration, entry, value, &err)) {
    replace(&entry->value, value);
    return 0;
  }
  free(value);
  cr_answer_error(invocation, "ADAPTER_ERROR", "%s", err.message);
  cr_error_clear(&err);
  return -1;
}

struct registration {
  const char *id, *name, *description;
  yyjson_val *schema, *initial, *metadata;
};

static int read_registration(struct invocation *invocation, yyjson_val *input, struct registration *wish) {
  if (!(wish->id = cr_input_text(invocation, input, "id")) ||
      !(wish->name = cr_input_text(invocation, input, "name")) ||
      !(wish->description = cr_input_text(invocation, input, "description")) ||
      !(wish->schema = cr_input_any(invocation, input, "schema")))
    return -1;
  wish->initial = yyjson_obj_get(input, "initial_value");
  wish->metadata = yyjson_obj_get(input, "metadata");
  if (yyjson_is_null(wish->initial)) wish->initial = NULL;
  if (yyjson_is_null(wish->metadata)) wish->metadata = NULL;
  return check_id(invocation, wish->id);
}

static void config_register(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct config_store *store = engine->configuration;
  struct registration wish;
  if (read_registration(invocation, input, &wish)) return;
  struct config_entry *entry = find(store, wish.id);
  if (!entry && HASH_COUNT(store->entries) >= ENTRIES_MAX) {
    cr_answer_error(invocation, "ADAPTER_ERROR", "there are %d configurations already", ENTRIES_MAX);
    return;
  }
  char *schema = yyjson_is_null(wish.schema) ? NULL : cr_value_text(wish.schema, NULL);
  char *value = wish.initial ? cr_value_text(wish.initial, NULL) : cr_strdup(entry ? entry->value : "null");
  if (check_sizes(invocation, schema, value) || (wish.initial && check_value(invocation, schema, value))) {
    free(schema);
    free(value);
    return;
  }
  int fresh = !entry;
  cr_autofree char *old = fresh ? NULL : cr_strdup(entry->value);
  if (fresh) entry = add(store, wish.id);
  replace(&entry->name, cr_strdup(wish.name));
  replace(&entry->description, cr_strdup(wish.description));
  replace(&entry->schema, schema);
  replace(&entry->metadata, cr_value_text(wish.metadata, NULL));
  if (commit(invocation, entry, value)) {
    if (fresh) entry_free(store, entry);
    return;
  }
  fire(store, fresh ? "configuration:registered" : "configuration:updated", entry, old, entry->value);
  answer_view(invocation, entry, 1);
}

static void config_set(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  const char *id = cr_input_text(invocation, input, "id");
  yyjson_val *given = id ? cr_input_any(invocation, input, "value") : NULL;
  if (!given || check_id(invocation, id)) return;
  struct config_entry *entry = find(engine->configuration, id);
  if (!entry) {
    cr_answer_error(invocation, "NOT_REGISTERED",
                    "configuration '%s' is not registered; call configuration::register first", id);
    return;
  }
  if (!entry->schema) {
    cr_answer_error(invocation, "SCHEMA_UNAVAILABLE",
                    "configuration '%s' has no schema available yet; its worker has to register it again", id);
    return;
  }
  char *value = cr_value_text(given, NULL);
  if (check_sizes(invocation, NULL, value) || check_value(invocation, entry->schema, value)) {
    free(value);
    return;
  }
  cr_autofree char *old = cr_strdup(entry->value);
  if (commit(invocation, entry, value)) return;
  fire(engine->configuration, "configuration:updated", entry, old, entry->value);
  cr_autobuf json = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&json);
  cr_write_json(&writer, "old_value", old, strlen(old));
  cr_write_json(&writer, "new_value", entry->value, strlen(entry->value));
  answer_writer(invocation, &writer);
}

static struct config_entry *find_or_answer(struct invocation *invocation, yyjson_val *input) {
  const char *id = cr_input_text(invocation, input, "id");
  struct config_entry *entry = id ? find(invocation->engine->configuration, id) : NULL;
  if (id && !entry) cr_answer_error(invocation, "NOT_FOUND", "configuration '%.200s' not found", id);
  return entry;
}

static void answer_value(struct invocation *invocation, const char *id, const char *value, size_t length) {
  cr_autobuf json = CR_BUF(FRAME_MAX);
  struct cr_writer writer = cr_writer_open(&json);
  cr_write_text(&writer, "id", id);
  cr_write_json(&writer, "value", value, length);
  answer_writer(invocation, &writer);
}

static void config_get(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine;
  struct config_entry *entry = find_or_answer(invocation, input);
  if (!entry) return;
  if (cr_optional_true(input, "raw")) {
    answer_value(invocation, entry->id, entry->value, strlen(entry->value));
    return;
  }
  cr_autobuf unset = CR_BUF(65536), errors = CR_BUF(65536);
  yyjson_doc *doc = expanded(entry->value, &unset);
  size_t length = 0;
  cr_autofree char *value = cr_value_text(yyjson_doc_get_root(doc), &length);
  yyjson_doc_free(doc);
  if (unset.len)
    cr_answer_error(invocation, "EXPAND_FAILED",
                    "configuration '%s' references unset environment variable(s) with no default: %.*s", entry->id,
                    (int)unset.len, (const char *)unset.data);
  else if (strcmp(entry->value, "null") != 0 && validate(entry->schema, entry->value, &errors))
    cr_answer_error(invocation, "SCHEMA_INVALID", "schema validation failed: %.*s", (int)errors.len,
                    (const char *)errors.data);
  else
    answer_value(invocation, entry->id, value, length);
}

static int by_id(const struct config_entry *one, const struct config_entry *two) { return strcmp(one->id, two->id); }

static void config_list(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)input;
  HASH_SORT(engine->configuration->entries, by_id);
  cr_autobuf json = CR_BUF(FRAME_MAX);
  int failed = cr_buf_puts(&json, "{\"configurations\":[");
  int first = 1;
  struct config_entry *entry, *next;
  HASH_ITER(hh, engine->configuration->entries, entry, next) {
    if (!first) failed |= cr_buf_puts(&json, ",");
    first = 0;
    struct cr_writer writer = cr_writer_open(&json);
    write_view(&writer, entry, 0);
    failed |= cr_writer_close(&writer);
  }
  if (failed || cr_buf_puts(&json, "]}"))
    cr_answer_error(invocation, "serialization_error", "the answer is too large");
  else
    cr_answer_json(invocation, (const char *)json.data, json.len);
}

static void config_schema(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  (void)engine;
  struct config_entry *entry = find_or_answer(invocation, input);
  if (entry) answer_view(invocation, entry, 0);
}

int cr_configuration_start(struct cr_engine *engine, const char *directory, struct cr_error *err) {
  static const struct {
    const char *id, *description;
    builtin *run;
  } all[] = {
      {"configuration::register", "Registers a typed settings entry", config_register},
      {"configuration::set", "Replaces the value of an entry", config_set},
      {"configuration::get", "The value of an entry, placeholders replaced unless raw", config_get},
      {"configuration::list", "All entries without their values", config_list},
      {"configuration::schema", "One entry without its value", config_schema},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    cr_builtin_register(engine, all[i].id, all[i].description, all[i].run);
  cr_trigger_type_builtin(engine, "configuration", "A configuration entry changed", refuse_binding);
  struct config_store *store = engine->configuration = cr_alloc(sizeof *store);
  store->engine = engine;
  store->directory = cr_strdup(directory);
  store->rescan.ring = on_rescan;
  struct stat st;
  if (stat(directory, &st)) return 0;
  if (!S_ISDIR(st.st_mode)) return cr_error_set(err, CR_ENGINE, "%s is not a directory", directory);
  scan(store, 1);
  watch(store);
  return 0;
}

void cr_configuration_free(struct cr_engine *engine) {
  struct config_store *store = engine->configuration;
  if (!store) return;
  cr_alarm_clear(engine->alarms, &store->rescan);
  if (store->watcher) {
    store->watcher->data = NULL;
    uv_close((uv_handle_t *)store->watcher, on_watcher_closed);
  }
  struct config_entry *entry, *next;
  HASH_ITER(hh, store->entries, entry, next) entry_free(store, entry);
  free(store->directory);
  free(store);
  engine->configuration = NULL;
}
