#include "worker/watch.h"

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

void cr_watch_disk(struct cr_runtime *runtime) {
  const struct cr_scratch *scratch = runtime->instance ? cr_instance_scratch(runtime->instance) : NULL;
  if (!scratch || !scratch->path || !cr_runtime_busy(runtime)) return;
  uint64_t bytes, entries;
  cr_scratch_usage(scratch, &bytes, &entries);
  const struct cr_config *config = &runtime->worker->config;
  int node = runtime->lang == CR_NODE;
  uint64_t most = node ? (config->scratch_mb << 20) + (config->scratch_files << 12) : CR_PYTHON_SCRATCH_BYTES;
  uint64_t files = node ? config->scratch_files : CR_PYTHON_SCRATCH_ENTRIES;
  if (bytes > most || entries > files) cr_runtime_over_disk(runtime);
}
