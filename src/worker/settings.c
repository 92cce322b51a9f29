#include "worker/settings.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "bus/client.h"

#define CALL_TIMEOUT_MS 5000
#define ATTEMPTS 3

enum step { STEP_ENSURE, STEP_GET_RAW, STEP_REGISTER, STEP_GET };

struct load {
  struct cr_bus *bus;
  cr_settings_done *done;
  void *of;
  struct cr_config seed;
  enum step step;
  int attempts;
  int stored;  // a value is there already
  uv_timer_t pause;
};

static void call(struct load *load);

const char *cr_settings_entry(void) {
  static char entry[128];
  const char *name = getenv("III_CONFIG_NAME");
  while (name && isspace((unsigned char)*name)) name++;
  size_t length = name ? strlen(name) : 0;
  while (length && isspace((unsigned char)name[length - 1])) length--;
  if (!length || length >= sizeof entry) return "code-runner";
  memcpy(entry, name, length);
  entry[length] = 0;
  return entry;
}

static void on_closed(uv_handle_t *handle) {
  struct load *load = handle->data;
  cr_config_free(&load->seed);
  free(load);
}

static void finish(struct load *load, struct cr_config *config, const struct cr_error *err) {
  load->done(load->of, config, err);
  uv_close((uv_handle_t *)&load->pause, on_closed);
}

static void fail(struct load *load, const char *code, const char *text) {
  struct cr_error err = {0};
  cr_error_set(&err, code, "configuration entry %s: %s", cr_settings_entry(), text);
  finish(load, NULL, &err);
  cr_error_clear(&err);
}

static char *entry_payload(const struct load *load, int with_value) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc), *metadata = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "id", cr_settings_entry());
  yyjson_mut_obj_add_str(doc, root, "name", "code-runner");
  yyjson_mut_obj_add_str(doc, root, "description", "Sandboxed JavaScript and Python: limits, budgets and output caps");
  yyjson_mut_obj_add_val(doc, root, "schema", cr_config_schema(doc));
  yyjson_mut_obj_add_str(doc, metadata, "ui_form", "code-runner");
  yyjson_mut_obj_add_val(doc, root, "metadata", metadata);
  if (with_value) yyjson_mut_obj_add_val(doc, root, "initial_value", cr_config_value(&load->seed, doc));
  char *text = cr_json_mut_text(doc, NULL);
  yyjson_mut_doc_free(doc);
  return text;
}

static char *get_payload(int raw) {
  return cr_format("{\"id\":\"%s\"%s}", cr_settings_entry(), raw ? ",\"raw\":true" : "");
}

static int absent(const struct cr_bus_failure *failure) {
  return !strcmp(failure->code, "function_not_found") || !strcmp(failure->code, "NOT_FOUND");
}

static void next(struct load *load, enum step step) {
  load->step = step;
  load->attempts = 0;
  call(load);
}

static void take_value(struct load *load, const char *result, size_t length) {
  struct cr_error err = {0};
  struct cr_config config;
  cr_config_defaults(&config);
  yyjson_doc *doc = result ? cr_json_parse(result, length, NULL) : NULL;
  yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(doc), "value");
  int failed = value && !yyjson_is_null(value) && cr_config_read(value, &config, &err);
  yyjson_doc_free(doc);
  if (failed) {
    fail(load, CR_INVALID_REQUEST, err.message);
    cr_error_clear(&err);
    cr_config_free(&config);
  } else {
    finish(load, &config, NULL);
  }
}

static int holds_value(const char *result, size_t length) {
  yyjson_doc *doc = result ? cr_json_parse(result, length, NULL) : NULL;
  yyjson_val *value = yyjson_obj_get(yyjson_doc_get_root(doc), "value");
  int holds = value && !yyjson_is_null(value);
  yyjson_doc_free(doc);
  return holds;
}

static void succeed(struct load *load, const char *result, size_t length) {
  switch (load->step) {
    case STEP_ENSURE:
    case STEP_REGISTER: next(load, STEP_GET); break;
    case STEP_GET_RAW:
      load->stored = holds_value(result, length);
      next(load, STEP_REGISTER);
      break;
    case STEP_GET: take_value(load, result, length); break;
  }
}

static void on_pause(uv_timer_t *timer) { call(timer->data); }

static void on_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure) {
  struct load *load = of;
  if (!failure) {
    succeed(load, result, length);
  } else if (load->step == STEP_ENSURE && !strcmp(failure->code, "function_not_found")) {
    cr_log(CR_LOG_WARN, "this bus has no configuration::ensure; using configuration::register");
    next(load, STEP_GET_RAW);
  } else if (load->step == STEP_GET_RAW && absent(failure)) {
    next(load, STEP_REGISTER);
  } else if (load->step == STEP_REGISTER && !strcmp(failure->code, "function_not_found")) {
    fail(load, CR_SETTINGS_NO_WORKER, "there is no configuration worker");
  } else if (load->step == STEP_GET && !strcmp(failure->code, "NOT_FOUND")) {
    take_value(load, NULL, 0);
  } else if (++load->attempts < ATTEMPTS && !absent(failure)) {
    uv_timer_start(&load->pause, on_pause, load->attempts == 1 ? 250 : 500, 0);
  } else {
    fail(load, CR_ENGINE, failure->message);
  }
}

static void call(struct load *load) {
  static const char *const functions[] = {"configuration::ensure", "configuration::get", "configuration::register",
                                          "configuration::get"};
  cr_autofree char *payload = load->step == STEP_ENSURE     ? entry_payload(load, 1)
                              : load->step == STEP_REGISTER ? entry_payload(load, !load->stored)
                                                            : get_payload(load->step == STEP_GET_RAW);
  const struct cr_bus_request request = {.function_id = functions[load->step],
                                         .payload = payload,
                                         .payload_length = strlen(payload),
                                         .name_space = "default",
                                         .timeout_ms = CALL_TIMEOUT_MS};
  cr_bus_call(load->bus, &request, on_answer, load);
}

static struct load *begin(struct cr_bus *bus, const struct cr_config *seed, cr_settings_done *done, void *of) {
  struct load *load = cr_alloc(sizeof *load);
  *load = (struct load){.bus = bus, .done = done, .of = of};
  if (seed)
    load->seed = *seed;
  else
    cr_config_defaults(&load->seed);
  if (load->seed.scratch_root) load->seed.scratch_root = cr_strdup(load->seed.scratch_root);
  uv_timer_init(cr_bus_loop(bus), &load->pause);
  load->pause.data = load;
  return load;
}

void cr_settings_load(struct cr_bus *bus, const struct cr_config *seed, cr_settings_done *done, void *of) {
  next(begin(bus, seed, done, of), STEP_ENSURE);
}

void cr_settings_read(struct cr_bus *bus, cr_settings_done *done, void *of) {
  next(begin(bus, NULL, done, of), STEP_GET);
}
