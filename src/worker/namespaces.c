#include "worker/namespaces.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "worker/internal.h"
#include "worker/runtime.h"

struct cr_namespace {
  char *name;
  UT_hash_handle hh;
  struct cr_runtime *runtimes[CR_LANGS];
};

static struct cr_namespace *find(struct cr_worker *worker, const char *name) {
  struct cr_namespace *found;
  HASH_FIND_STR(worker->namespaces, name, found);
  return found;
}

struct cr_runtime *cr_namespace_find(struct cr_worker *worker, const char *name, enum cr_lang lang) {
  struct cr_namespace *space = find(worker, name);
  return space ? space->runtimes[lang] : NULL;
}

struct cr_runtime *cr_namespace_open(struct cr_worker *worker, const char *name, enum cr_lang lang,
                                     struct cr_error *err) {
  struct cr_runtime *runtime = cr_namespace_find(worker, name, lang);
  if (!runtime) runtime = cr_runtime_create(worker, lang, CR_NAMESPACE, name, 0, err);
  if (!runtime) return NULL;
  struct cr_namespace *space = find(worker, name);
  if (!space) {
    space = cr_alloc(sizeof *space);
    space->name = cr_strdup(name);
    HASH_ADD_KEYPTR(hh, worker->namespaces, space->name, strlen(space->name), space);
  }
  space->runtimes[lang] = runtime;
  return runtime;
}

void cr_namespace_forget(struct cr_runtime *runtime) {
  if (runtime->life != CR_NAMESPACE) return;
  struct cr_worker *worker = runtime->worker;
  struct cr_namespace *space = find(worker, runtime->prefix);
  if (!space || space->runtimes[runtime->lang] != runtime) return;
  space->runtimes[runtime->lang] = NULL;
  for (int i = 0; i < CR_LANGS; i++)
    if (space->runtimes[i]) return;
  HASH_DEL(worker->namespaces, space);
  free(space->name);
  free(space);
}
