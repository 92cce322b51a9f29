#include "worker/config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"

#define FILE_MAX (1u << 20)

enum kind { NUMBER, SWITCH, PATH };

struct key {
  const char *name;
  enum kind kind;
  size_t offset;
  uint64_t standard;
  int hot;
  const char *description;
};

#define AT(field) offsetof(struct cr_config, field)

static const struct key keys[] = {
    {"max_runtimes", NUMBER, AT(max_runtimes), 32, 0, "Runtimes at once, both languages; 0 refuses every one"},
    {"default_timeout_ms", NUMBER, AT(default_timeout_ms), 5000, 1,
     "Budget of a run that asks for none, and of handlers"},
    {"max_timeout_ms", NUMBER, AT(max_timeout_ms), 30000, 1, "Ceiling of the budgets that may be asked for"},
    {"idle_ttl_secs", NUMBER, AT(idle_ttl_secs), 900, 0, "Seconds without activity after which a runtime is ended"},
    {"heap_mb", NUMBER, AT(heap_mb), 128, 0, "JavaScript heap of a node runtime, MiB"},
    {"external_mb", NUMBER, AT(external_mb), 64, 0, "Off-heap memory of a node runtime, MiB"},
    {"scratch_mb", NUMBER, AT(scratch_mb), 8, 0, "Files of a node runtime, MiB; 0 removes iii.files"},
    {"scratch_files", NUMBER, AT(scratch_files), 64, 0, "Number of files of a node runtime"},
    {"scratch_root", PATH, AT(scratch_root), 0, 0, "Directory for the private directories; null: memory"},
    {"inject_guidance", SWITCH, AT(inject_guidance), 1, 1, "Append usage guidance to system prompts"},
    {"max_result_bytes", NUMBER, AT(max_result_bytes), 32768, 1, "Cap of a result in a response; 0 disables"},
    {"max_stream_bytes", NUMBER, AT(max_stream_bytes), 16384, 1,
     "Cap of stdout and of stderr in a response; 0 disables"},
};
#define KEYS (sizeof keys / sizeof *keys)

static uint64_t *number_at(struct cr_config *config, const struct key *key) {
  return (uint64_t *)((char *)config + key->offset);
}
static int *switch_at(struct cr_config *config, const struct key *key) { return (int *)((char *)config + key->offset); }

void cr_config_defaults(struct cr_config *config) {
  *config = (struct cr_config){0};
  for (size_t i = 0; i < KEYS; i++) {
    if (keys[i].kind == NUMBER) *number_at(config, &keys[i]) = keys[i].standard;
    if (keys[i].kind == SWITCH) *switch_at(config, &keys[i]) = (int)keys[i].standard;
  }
}

void cr_config_free(struct cr_config *config) {
  free(config->scratch_root);
  config->scratch_root = NULL;
}

static const struct key *find(const char *name) {
  for (size_t i = 0; i < KEYS; i++)
    if (!strcmp(keys[i].name, name)) return &keys[i];
  return NULL;
}

static int refuse(const struct key *key, const char *expected, yyjson_val *value, struct cr_error *err) {
  return cr_error_set(err, CR_INVALID_REQUEST, "configuration key `%s` must be %s, not %s", key->name, expected,
                      cr_json_kind(value));
}

static int read_key(const struct key *key, yyjson_val *value, struct cr_config *config, struct cr_error *err) {
  switch (key->kind) {
    case NUMBER:
      if (!yyjson_is_uint(value)) return refuse(key, "an integer of at least 0", value, err);
      *number_at(config, key) = yyjson_get_uint(value);
      return 0;
    case SWITCH:
      if (!yyjson_is_bool(value)) return refuse(key, "true or false", value, err);
      *switch_at(config, key) = yyjson_get_bool(value);
      return 0;
    default:
      if (!yyjson_is_null(value) && !yyjson_is_str(value)) return refuse(key, "a string or null", value, err);
      free(config->scratch_root);
      config->scratch_root = yyjson_get_len(value) && yyjson_is_str(value) ? cr_strdup(yyjson_get_str(value)) : NULL;
      return 0;
  }
}

int cr_config_read(yyjson_val *object, struct cr_config *config, struct cr_error *err) {
  if (!yyjson_is_obj(object))
    return cr_error_set(err, CR_INVALID_REQUEST, "the configuration must be an object, not %s", cr_json_kind(object));
  struct cr_config read;
  cr_config_defaults(&read);
  yyjson_obj_iter iter = yyjson_obj_iter_with(object);
  for (yyjson_val *name; (name = yyjson_obj_iter_next(&iter));) {
    const struct key *key = find(yyjson_get_str(name));
    int failed = !key;
    if (failed)
      cr_error_set(err, CR_INVALID_REQUEST, "unknown configuration key `%.64s`", yyjson_get_str(name));
    else
      failed = read_key(key, yyjson_obj_iter_get_val(name), &read, err);
    if (failed) {
      cr_config_free(&read);
      return -1;
    }
  }
  cr_config_free(config);
  *config = read;
  return 0;
}

static int read_file(const char *path, struct cr_buf *text, struct cr_error *err) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = -1;
  while (file >= 0 && !cr_buf_reserve(text, 4096) && (n = read(file, text->data + text->len, 4096)) > 0)
    text->len += (size_t)n;
  int error = errno;
  if (file >= 0) close(file);
  return n == 0 ? 0 : cr_error_set(err, CR_INVALID_REQUEST, "cannot read %s: %s", path, strerror(error));
}

int cr_config_load(const char *path, struct cr_config *config, struct cr_error *err) {
  cr_autobuf text = CR_BUF(FILE_MAX);
  if (read_file(path, &text, err)) return -1;
  yyjson_mut_doc *parsed = cr_yaml_parse((const char *)text.data, text.len, err);
  if (!parsed) return -1;
  if (yyjson_mut_is_null(yyjson_mut_doc_get_root(parsed))) yyjson_mut_doc_set_root(parsed, yyjson_mut_obj(parsed));
  yyjson_doc *doc = yyjson_mut_doc_imut_copy(parsed, NULL);
  yyjson_mut_doc_free(parsed);
  int result = cr_config_read(yyjson_doc_get_root(doc), config, err);
  yyjson_doc_free(doc);
  return result;
}

int cr_config_apply(struct cr_config *to, const struct cr_config *from) {
  struct cr_config source = *from;
  int differs = strcmp(to->scratch_root ? to->scratch_root : "", from->scratch_root ? from->scratch_root : "") != 0;
  for (size_t i = 0; i < KEYS; i++) {
    const struct key *key = &keys[i];
    if (key->kind == SWITCH && key->hot) *switch_at(to, key) = *switch_at(&source, key);
    if (key->kind != NUMBER) continue;
    if (key->hot)
      *number_at(to, key) = *number_at(&source, key);
    else
      differs |= *number_at(to, key) != *number_at(&source, key);
  }
  return differs;
}

static yyjson_mut_val *value_of(const struct cr_config *config, const struct key *key, yyjson_mut_doc *doc) {
  struct cr_config copy = *config;
  if (key->kind == NUMBER) return yyjson_mut_uint(doc, *number_at(&copy, key));
  if (key->kind == SWITCH) return yyjson_mut_bool(doc, *switch_at(&copy, key));
  return copy.scratch_root ? yyjson_mut_strcpy(doc, copy.scratch_root) : yyjson_mut_null(doc);
}

yyjson_mut_val *cr_config_value(const struct cr_config *config, yyjson_mut_doc *doc) {
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  for (size_t i = 0; i < KEYS; i++)
    yyjson_mut_obj_add(object, yyjson_mut_str(doc, keys[i].name), value_of(config, &keys[i], doc));
  return object;
}

yyjson_mut_val *cr_config_schema(yyjson_mut_doc *doc) {
  struct cr_config standard;
  cr_config_defaults(&standard);
  yyjson_mut_val *schema = yyjson_mut_obj(doc), *properties = yyjson_mut_obj(doc);
  yyjson_mut_obj_add_str(doc, schema, "$schema", "http://json-schema.org/draft-07/schema#");
  yyjson_mut_obj_add_str(doc, schema, "title", "code-runner");
  yyjson_mut_obj_add_str(doc, schema, "type", "object");
  for (size_t i = 0; i < KEYS; i++) {
    yyjson_mut_val *property = yyjson_mut_obj(doc);
    if (keys[i].kind == PATH) {
      yyjson_mut_val *types = yyjson_mut_arr(doc);
      yyjson_mut_arr_add_str(doc, types, "string");
      yyjson_mut_arr_add_str(doc, types, "null");
      yyjson_mut_obj_add_val(doc, property, "type", types);
    } else {
      yyjson_mut_obj_add_str(doc, property, "type", keys[i].kind == NUMBER ? "integer" : "boolean");
    }
    if (keys[i].kind == NUMBER) yyjson_mut_obj_add_int(doc, property, "minimum", 0);
    yyjson_mut_obj_add_val(doc, property, "default", value_of(&standard, &keys[i], doc));
    yyjson_mut_obj_add_str(doc, property, "description", keys[i].description);
    yyjson_mut_obj_add(properties, yyjson_mut_str(doc, keys[i].name), property);
  }
  yyjson_mut_obj_add_val(doc, schema, "properties", properties);
  yyjson_mut_obj_add_bool(doc, schema, "additionalProperties", false);
  return schema;
}

uint64_t cr_config_budget(const struct cr_config *config, uint64_t wanted) {
  uint64_t budget = wanted ? wanted : config->default_timeout_ms;
  if (budget > config->max_timeout_ms) budget = config->max_timeout_ms;
  return budget ? budget : 1;
}
