// code-runner::teardown: contract 2.4, 14.
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "worker/functions.h"
#include "worker/internal.h"
#include "worker/names.h"
#include "worker/namespaces.h"
#include "worker/published.h"
#include "worker/request.h"
#include "worker/runtime.h"

struct teardown {
  cr_reply *reply;
  void *of;
  char *runtime_id;
};

static void reply_torn_down(cr_reply *reply, void *of, const char *key, const char *value, char **ids) {
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc), *array = yyjson_mut_arr(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_str(doc, root, key, value);
  yyjson_mut_obj_add_bool(doc, root, "torn_down", true);
  for (; *ids; ids++) yyjson_mut_arr_add_str(doc, array, *ids);
  yyjson_mut_obj_add_val(doc, root, "unregistered", array);
  size_t length;
  cr_autofree char *text = cr_json_mut_text(doc, &length);
  yyjson_mut_doc_free(doc);
  reply(of, text, length, NULL);
}

static void on_gone(void *of, char **ids) {
  struct teardown *teardown = of;
  reply_torn_down(teardown->reply, teardown->of, "runtime_id", teardown->runtime_id, ids);
  free(teardown->runtime_id);
  free(teardown);
}

static int by_id(struct cr_worker *worker, const char *id, cr_reply *reply, void *of, struct cr_error *err) {
  struct cr_runtime *runtime = cr_runtime_find(worker, id, err);
  if (!runtime) return -1;
  struct teardown *teardown = cr_alloc(sizeof *teardown);
  *teardown = (struct teardown){.reply = reply, .of = of, .runtime_id = cr_strdup(id)};
  cr_runtime_retire(runtime, on_gone, teardown);
  return 0;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// One sorted list; the ids move.
static char **merge(char **a, char **b) {
  size_t count = 0, more = 0;
  while (a && a[count]) count++;
  while (b && b[more]) more++;
  char **all = cr_alloc(sizeof *all * (count + more + 1));
  if (a) memcpy(all, a, sizeof *all * count);
  if (b) memcpy(all + count, b, sizeof *all * more);
  free(a);
  free(b);
  qsort(all, count + more, sizeof *all, by_text);
  return all;
}

static int by_namespace(struct cr_worker *worker, const char *name, size_t length, cr_reply *reply, void *of,
                        struct cr_error *err) {
  cr_autofree char *canonical = cr_name_canonical(name, length, err);
  if (!canonical) return -1;
  char **ids = NULL;
  int found = 0;
  for (int lang = 0; lang < CR_LANGS; lang++) {
    struct cr_runtime *runtime = cr_namespace_find(worker, canonical, (enum cr_lang)lang);
    if (!runtime) continue;
    found = 1;
    ids = merge(ids, cr_published_ids(runtime));
    cr_runtime_destroy(runtime, CR_RUNTIME_NOT_FOUND, "the namespace was torn down");
  }
  if (!found) return cr_error_set(err, CR_RUNTIME_NOT_FOUND, "no namespace %s: nothing is registered in it", canonical);
  reply_torn_down(reply, of, "namespace", canonical, ids);
  cr_published_ids_free(ids);
  return 0;
}

static int decide(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of, struct cr_error *err) {
  const char *id = NULL, *name = NULL;
  size_t id_length = 0, name_length = 0;
  if (cr_request_object(payload, err) || cr_request_text(payload, "runtime_id", 1, &id, &id_length, err) ||
      cr_request_text(payload, "namespace", 1, &name, &name_length, err))
    return -1;
  if (!id == !name) return cr_error_set(err, CR_INVALID_REQUEST, "give exactly one of `runtime_id` and `namespace`");
  return id ? by_id(worker, id, reply, of, err) : by_namespace(worker, name, name_length, reply, of, err);
}

void cr_function_teardown(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  struct cr_error err = {0};
  if (!decide(worker, payload, reply, of, &err)) return;
  reply(of, NULL, 0, &err);
  cr_error_clear(&err);
}
