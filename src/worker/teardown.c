// code-runner::teardown: contract 2.4, 14.
#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/request.h"
#include "worker/runtime.h"

struct teardown {
  cr_reply *reply;
  void *of;
  char *runtime_id;
};

static void torn_down(void *of) {
  struct teardown *teardown = of;
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, "runtime_id", teardown->runtime_id);
  yyjson_mut_obj_add_bool(doc, root, "torn_down", true);
  yyjson_mut_obj_add_val(doc, root, "unregistered", yyjson_mut_arr(doc));
  size_t length;
  cr_autofree char *text = cr_json_mut_text(doc, &length);
  yyjson_mut_doc_free(doc);
  teardown->reply(teardown->of, text, length, NULL);
  free(teardown->runtime_id);
  free(teardown);
}

static int by_id(struct cr_worker *worker, const char *id, cr_reply *reply, void *of, struct cr_error *err) {
  struct cr_runtime *runtime = cr_runtime_find(worker, id, err);
  if (!runtime) return -1;
  struct teardown *teardown = cr_alloc(sizeof *teardown);
  *teardown = (struct teardown){.reply = reply, .of = of, .runtime_id = cr_strdup(id)};
  cr_runtime_retire(runtime, torn_down, teardown);
  return 0;
}

static int decide(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of, struct cr_error *err) {
  const char *id = NULL, *name = NULL;
  size_t id_length = 0, name_length = 0;
  if (cr_request_object(payload, err) || cr_request_text(payload, "runtime_id", 1, &id, &id_length, err) ||
      cr_request_text(payload, "namespace", 1, &name, &name_length, err))
    return -1;
  if (!id == !name) return cr_error_set(err, CR_INVALID_REQUEST, "give exactly one of `runtime_id` and `namespace`");
  if (id) return by_id(worker, id, reply, of, err);
  return cr_error_set(err, CR_RUNTIME_NOT_FOUND, "no namespace %.64s", name);
}

void cr_function_teardown(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  struct cr_error err = {0};
  if (!decide(worker, payload, reply, of, &err)) return;
  reply(of, NULL, 0, &err);
  cr_error_clear(&err);
}
