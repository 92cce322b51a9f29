// code-runner::register_function: contract 2.3, 13.
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "worker/bindings.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/mask.h"
#include "worker/names.h"
#include "worker/namespaces.h"
#include "worker/published.h"
#include "worker/request.h"
#include "worker/runtime.h"

#define SOURCE_MAX 1048576u

struct registration {
  struct cr_worker *worker;
  struct cr_runtime *runtime;
  cr_reply *reply;
  void *of;
  char *id;
  char *source;
  size_t source_length;
  int lang;
  struct cr_metadata metadata;
};

static void free_registration(struct registration *registration) {
  cr_metadata_free(&registration->metadata);
  free(registration->id);
  free(registration->source);
  free(registration);
}

static int decode(yyjson_val *payload, struct registration *registration, struct cr_error *err) {
  const char *id = NULL, *source = NULL;
  size_t id_length = 0;
  if (cr_request_object(payload, err) || cr_request_text(payload, "function_id", 0, &id, &id_length, err) ||
      cr_request_text(payload, "source", 0, &source, &registration->source_length, err) ||
      cr_request_lang(payload, 0, &registration->lang, err) || cr_metadata_check_id(id, id_length, err) ||
      cr_metadata_read(payload, &registration->metadata, err))
    return -1;
  if (registration->source_length > SOURCE_MAX)
    return cr_error_set(err, CR_INVALID_REQUEST, "`source` is %zu bytes; max %u", registration->source_length,
                        SOURCE_MAX);
  registration->id = cr_strdup(id);
  registration->source = cr_strndup(source, registration->source_length);
  return 0;
}

// The published text of a function that has none of its own.
static void describe(struct registration *registration, const struct cr_published *function) {
  int redeploy = function->live && registration->lang == CR_NODE;
  if (redeploy && cr_metadata_empty(&registration->metadata)) {
    registration->metadata = function->metadata;
    ((struct cr_published *)function)->metadata = (struct cr_metadata){0};
  }
  if (!registration->metadata.description)
    registration->metadata.description = cr_format("A %s function published through code-runner.",
                                                   registration->lang == CR_NODE ? "JavaScript (node)" : "Python");
}

static void reply_registered(struct registration *registration) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "function_id", registration->id);
  yyjson_mut_obj_add_bool(doc, root, "registered", true);
  size_t length;
  cr_autofree char *text = cr_json_mut_text(doc, &length);
  yyjson_mut_doc_free(doc);
  registration->reply(registration->of, text, length, NULL);
}

static void translate(const struct registration *registration, const struct cr_outcome *outcome, struct cr_error *err) {
  const char *code = outcome->error.code;
  if (code && (!strcmp(code, CR_EXPIRED) || !strcmp(code, CR_RUNTIME_NOT_FOUND)))
    cr_error_set(err, CR_ENGINE, "the namespace of %s was torn down while this registration was in flight",
                 registration->id);
  else if (code)
    cr_error_set(err, code, "%s", outcome->error.message);
  else if (outcome->flags & CR_DONE_MEMORY)
    cr_error_set(err, CR_RESOURCE_EXHAUSTED, "the runtime's memory cap was exceeded");
  else if (outcome->flags & CR_DONE_DISK)
    cr_error_set(err, CR_RESOURCE_EXHAUSTED, "/work is over its budget");
  else
    cr_error_set(err, CR_INVALID_REQUEST, "%.*s", (int)outcome->failure_length, (const char *)outcome->failure);
}

// A first registration that failed leaves nothing, unless something else lives there.
static void abandon(struct cr_runtime *runtime) {
  if (!cr_list_empty(&runtime->published) || cr_runtime_busy(runtime) || cr_bindings_count(runtime)) return;
  cr_runtime_destroy(runtime, CR_ENGINE, "the runtime behind this call is gone");
}

static int publish(struct registration *registration, struct cr_published *function, struct cr_error *err) {
  describe(registration, function);
  free(function->broken);
  function->broken = NULL;
  if (registration->lang == CR_PYTHON) {
    free(function->source);
    function->source = registration->source;
    registration->source = NULL;
  }
  return cr_published_announce(function, &registration->metadata, err);
}

static void on_defined(void *of, struct cr_outcome *outcome) {
  struct registration *registration = of;
  struct cr_error err = {0};
  struct cr_published *function = cr_published_find(registration->worker, registration->id);
  // A teardown that came in between has freed the id, and maybe somebody else has it now.
  if (function && function->runtime != registration->runtime) function = NULL;
  int failed = outcome->error.code || outcome->exit_code || outcome->flags & CR_DONE_UNHANDLED;
  if (failed)
    translate(registration, outcome, &err);
  else if (!function)
    cr_error_set(&err, CR_ENGINE, "the namespace of %s was torn down while this registration was in flight",
                 registration->id);
  else if (publish(registration, function, &err))
    cr_error_set(&err, CR_INVALID_REQUEST, "%s cannot be announced: it does not fit a bus message", registration->id);
  if (function) cr_published_settle(function);
  if (err.code && registration->runtime->worker && !outcome->runtime_gone) abandon(registration->runtime);
  if (err.code) {
    cr_mask_ids(err.message, NULL);
    registration->reply(registration->of, NULL, 0, &err);
  } else {
    reply_registered(registration);
  }
  cr_error_clear(&err);
  free_registration(registration);
}

static int begin(struct registration *registration, struct cr_error *err) {
  cr_autofree char *name = cr_name_of_function(registration->id, err);
  if (!name) return -1;
  struct cr_worker *worker = registration->worker;
  enum cr_lang lang = (enum cr_lang)registration->lang;
  struct cr_published *held = cr_published_find(worker, registration->id);
  if (cr_worker_owns(registration->id) || (held && held->runtime != cr_namespace_find(worker, name, lang)))
    return cr_error_set(err, CR_INVALID_REQUEST, "function id `%s` is already taken", registration->id);
  registration->runtime = cr_namespace_open(worker, name, lang, err);
  if (!registration->runtime) return -1;
  struct cr_published *function = cr_published_claim(worker, registration->runtime, registration->id, err);
  if (!function) return -1;
  function->pending++;
  struct cr_turn *turn =
      cr_turn_define(registration->runtime, registration->id, registration->source, registration->source_length);
  turn->finished = on_defined;
  turn->of = registration;
  cr_runtime_submit(turn);
  return 0;
}

void cr_function_register(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  struct cr_error err = {0};
  struct registration *registration = cr_alloc(sizeof *registration);
  *registration = (struct registration){.worker = worker, .reply = reply, .of = of};
  if (!decode(payload, registration, &err) && !begin(registration, &err)) return;
  reply(of, NULL, 0, &err);
  cr_error_clear(&err);
  free_registration(registration);
}
