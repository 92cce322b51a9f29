#include "worker/watch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/internal.h"
#include "worker/memory.h"
#include "worker/runtime.h"

void cr_watch_pong(struct cr_runtime *runtime) { runtime->pinged_at = 0; }

static void ping(struct cr_runtime *runtime, uint64_t now) {
  struct cr_frame_writer writer = cr_frame_begin(cr_instance_outgoing(runtime->instance), CR_FRAME_PING, 0, 0);
  if (cr_frame_end(&writer)) return;
  cr_instance_flush(runtime->instance);
  runtime->pinged_at = now;
}

void cr_watch_background(struct cr_runtime *runtime, uint64_t now) {
  if (runtime->lang != CR_NODE || !runtime->live || cr_runtime_busy(runtime)) {
    runtime->pinged_at = 0;
    return;
  }
  if (!runtime->pinged_at)
    ping(runtime, now);
  else if (now - runtime->pinged_at > cr_config_budget(&runtime->worker->config, 0))
    cr_runtime_expire(runtime);
}

struct look {
  uv_work_t work;
  struct cr_worker *worker;
  char id[CR_RUNTIME_ID_SIZE];
  int root;
  uint64_t bytes;
  uint64_t entries;
  int over;
};

static void look_now(uv_work_t *work) {
  struct look *look = (struct look *)work;
  look->over = cr_scratch_over(look->root, look->bytes, look->entries);
}

static struct cr_runtime *still_there(struct cr_worker *worker, const char *id) {
  for (struct cr_list *at = worker->all.next; at != &worker->all; at = at->next) {
    struct cr_runtime *runtime = cr_list_item(at, struct cr_runtime, link);
    if (!strcmp(runtime->id, id)) return runtime;
  }
  return NULL;
}

static void on_looked(uv_work_t *work, int status) {
  struct look *look = (struct look *)work;
  // A worker that ends waits for these: it is freed with its last one (worker.c).
  struct cr_runtime *runtime = still_there(look->worker, look->id);
  if (runtime) runtime->looked_at = 0;
  if (runtime && !status && look->over && runtime->instance && cr_runtime_busy(runtime)) cr_runtime_over_disk(runtime);
  cr_worker_unhold(look->worker);
  close(look->root);
  free(look);
}

void cr_watch_disk(struct cr_runtime *runtime) {
  const struct cr_scratch *scratch = runtime->instance ? cr_instance_scratch(runtime->instance) : NULL;
  if (!scratch || !scratch->path || runtime->looked_at || !cr_runtime_busy(runtime)) return;
  const struct cr_config *config = &runtime->worker->config;
  int node = runtime->lang == CR_NODE;
  struct look *look = cr_alloc(sizeof *look);
  *look = (struct look){
      .worker = runtime->worker,
      .root = fcntl(scratch->fd, F_DUPFD_CLOEXEC, 3),
      .bytes = node ? (config->scratch_mb << 20) + (config->scratch_files << 12) : CR_PYTHON_SCRATCH_BYTES,
      .entries = node ? config->scratch_files : CR_PYTHON_SCRATCH_ENTRIES,
  };
  memcpy(look->id, runtime->id, sizeof look->id);
  runtime->looked_at = 1;
  cr_worker_hold(runtime->worker);
  uv_queue_work(runtime->worker->loop, &look->work, look_now, on_looked);
}
