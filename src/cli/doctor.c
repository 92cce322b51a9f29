// code-runner doctor: what runs here, how well it is sealed, and what limits it.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/cli.h"
#include "host/zygote.h"
#include "worker/memory.h"

struct doctor {
  uv_loop_t loop;
  struct cr_cli_settings settings;
  struct cr_worker *worker;
  int status;
};

static void print_engine(struct cr_zygote *zygote, const char *name) {
  if (cr_zygote_state(zygote) == CR_ZYGOTE_READY)
    printf("%-8s %s, zygote booted in %.0f ms\n", name, cr_zygote_version(zygote), cr_zygote_boot_ms(zygote));
  else
    printf("%-8s BROKEN: %s\n", name, cr_zygote_failure(zygote));
}

static void print_limits(const struct cr_config *config) {
  printf("limits   %" PRIu64 " runtimes; run %" PRIu64 " ms by default, %" PRIu64 " ms at most; idle %" PRIu64 " s\n",
         config->max_runtimes, config->default_timeout_ms, config->max_timeout_ms, config->idle_ttl_secs);
  printf("         node: heap %" PRIu64 " MiB, off-heap %" PRIu64 " MiB, files %" PRIu64 " MiB in %" PRIu64 "\n",
         config->heap_mb, config->external_mb, config->scratch_mb, config->scratch_files);
  printf("         python: memory %u MiB (%u to %u), files %llu MiB in %llu\n", CR_PYTHON_MEMORY_DEFAULT_MB,
         CR_PYTHON_MEMORY_MIN_MB, CR_PYTHON_MEMORY_MAX_MB, CR_PYTHON_SCRATCH_BYTES >> 20, CR_PYTHON_SCRATCH_ENTRIES);
  printf("         response: result %" PRIu64 " bytes, each stream %" PRIu64 " bytes\n", config->max_result_bytes,
         config->max_stream_bytes);
}

static void on_ready(void *of, struct cr_worker *worker) {
  struct doctor *doctor = of;
  struct utsname host;
  char missing[256];
  uname(&host);
  printf("code-runner %s on %s %s (%s)\n", CR_VERSION, host.sysname, host.release, host.machine);
  int broken = 0;
  for (int i = 0; i < CR_LANGS; i++) {
    struct cr_zygote *zygote = cr_worker_zygote(worker, (enum cr_lang)i);
    print_engine(zygote, cr_lang_name((enum cr_lang)i));
    broken |= cr_zygote_state(zygote) != CR_ZYGOTE_READY;
  }
  int lacking = cr_cli_missing_layers(worker, missing, sizeof missing);
  printf("sandbox  seccomp, resource limits, private root: always; namespaces, Landlock, tmpfs quotas: %s%s\n",
         lacking ? "this host refuses " : "all active", missing);
  print_limits(&doctor->settings.worker.config);
  doctor->status = broken || (lacking && doctor->settings.worker.require_layers);
  cr_worker_free(worker);
}

int cr_cli_doctor(int argc, char **argv) {
  static struct doctor doctor;
  cr_cli_settings_init(&doctor.settings);
  for (int i = 1; i < argc; i++) {
    if (cr_cli_common_option(argc, argv, &i, &doctor.settings) == 1) continue;
    fputs("usage: code-runner doctor [--config FILE] [--sandbox require|best-effort]\n", stderr);
    cr_config_free(&doctor.settings.worker.config);
    cr_cli_settings_free(&doctor.settings);
    return CR_EXIT_USAGE;
  }
  doctor.settings.worker.spares = 0;
  struct cr_worker_settings settings = doctor.settings.worker;
  uv_loop_init(&doctor.loop);
  doctor.worker = cr_worker_create(&doctor.loop, &settings, on_ready, &doctor);
  uv_run(&doctor.loop, UV_RUN_DEFAULT);
  uv_loop_close(&doctor.loop);
  cr_cli_settings_free(&doctor.settings);
  return doctor.status;
}
