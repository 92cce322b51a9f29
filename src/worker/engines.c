#include "worker/engines.h"

#include <stdlib.h>

#include "base/mem.h"
#include "worker/memory.h"

#define NODE_STACK_BYTES (8ull << 20)
#define PYTHON_STACK_BYTES (64ull << 20)
#define ARGUMENTS 16

static char **node_arguments(const struct cr_worker_settings *settings) {
  char **arguments = cr_alloc(sizeof *arguments * ARGUMENTS);
  int n = 0;
  arguments[n++] = cr_format("%s/node", settings->libexec);
  arguments[n++] = cr_format("--max-old-space-size=%llu", (unsigned long long)settings->config.heap_mb);
  arguments[n++] = cr_strdup("--single-threaded");
  arguments[n++] = cr_strdup("--v8-pool-size=0");
  arguments[n++] = cr_strdup("--disable-sigusr1");
  arguments[n++] = cr_strdup("--unhandled-rejections=none");
  arguments[n++] = cr_strdup("--no-warnings");
  arguments[n++] = cr_format("%s/zygote.cjs", settings->libexec);
  return arguments;
}

static char **python_arguments(const struct cr_worker_settings *settings) {
  char **arguments = cr_alloc(sizeof *arguments * ARGUMENTS);
  arguments[0] = cr_format("%s/python-zygote", settings->libexec);
  arguments[1] = cr_format("%s/python.cwasm", settings->libexec);
  return arguments;
}

void cr_engine_arguments_free(char **arguments) {
  for (char **at = arguments; *at; at++) free(*at);
  free(arguments);
}

struct cr_zygote_settings cr_engine_settings(enum cr_lang lang, const struct cr_worker_settings *settings,
                                             const char *init) {
  const struct cr_config *config = &settings->config;
  struct cr_zygote_settings zygote = {
      .name = cr_lang_name(lang), .init = init, .spares = settings->spares, .scratch_root = config->scratch_root};
  if (lang == CR_NODE) {
    zygote.arguments = node_arguments(settings);
    zygote.stack_bytes = NODE_STACK_BYTES;
    zygote.data_bytes = cr_memory_node(config);
    // A page more a file, so that iii.files can use its whole quota (contract 8) however it is cut into files.
    zygote.tmpfs_bytes = (config->scratch_mb << 20) + (config->scratch_files << 12) + 8192;
    zygote.tmpfs_inodes = config->scratch_files;
  } else {
    zygote.arguments = python_arguments(settings);
    zygote.stack_bytes = PYTHON_STACK_BYTES;
    zygote.data_bytes = cr_memory_python(CR_PYTHON_MEMORY_DEFAULT_MB);
    zygote.tmpfs_bytes = CR_PYTHON_SCRATCH_BYTES;
    zygote.tmpfs_inodes = CR_PYTHON_SCRATCH_ENTRIES;
  }
  return zygote;
}
