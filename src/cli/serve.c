// code-runner serve: the worker, until its bus (or its standard input) ends.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/stdio.h"

static const char usage[] =
    "usage: code-runner serve --stdio [--config FILE] [--sandbox require|best-effort] [--spares N]\n"
    "  --stdio       one JSON request a line on standard input, one answer a line on standard output\n"
    "  --config      YAML file with settings\n"
    "  --sandbox     whether a layer that this host refuses is an error (require, the default)\n"
    "  --spares      runtimes forked ahead per language\n";

struct serve {
  uv_loop_t loop;
  struct cr_cli_settings settings;
  struct cr_worker *worker;
  struct cr_stdio *stdio;
  uv_signal_t signals[2];
  int status;
  int stopping;
};

static void stop(struct serve *serve, int status) {
  if (serve->stopping) return;
  serve->stopping = 1;
  serve->status = status;
  if (serve->stdio) cr_stdio_free(serve->stdio);
  cr_worker_free(serve->worker);
  for (int i = 0; i < 2; i++) uv_close((uv_handle_t *)&serve->signals[i], NULL);
}

static void on_done(void *of) { stop(of, 0); }
static void on_signal(uv_signal_t *handle, int number) {
  (void)number;
  stop(handle->data, 0);
}

static int layers_suffice(struct serve *serve) {
  char missing[256];
  if (!cr_cli_missing_layers(serve->worker, missing, sizeof missing)) return 1;
  cr_log(serve->settings.worker.require_layers ? CR_LOG_ERROR : CR_LOG_WARN, "this host refuses sandbox layers: %s%s",
         missing, serve->settings.worker.require_layers ? " (--sandbox=best-effort runs without them)" : "");
  return !serve->settings.worker.require_layers;
}

static void on_ready(void *of, struct cr_worker *worker) {
  struct serve *serve = of;
  if (!layers_suffice(serve)) {
    stop(serve, CR_EXIT_ENGINE);
    return;
  }
  cr_log(CR_LOG_INFO, "ready");
  serve->stdio = cr_stdio_start(&serve->loop, worker, on_done, serve);
}

static int parse(int argc, char **argv, struct serve *serve) {
  int stdio = 0;
  for (int i = 1; i < argc; i++) {
    int taken = cr_cli_common_option(argc, argv, &i, &serve->settings);
    if (taken < 0) return CR_EXIT_USAGE;
    if (taken) continue;
    if (!strcmp(argv[i], "--stdio")) {
      stdio = 1;
      continue;
    }
    fputs(usage, !strcmp(argv[i], "--help") ? stdout : stderr);
    return !strcmp(argv[i], "--help") ? -1 : CR_EXIT_USAGE;
  }
  if (stdio) return 0;
  fputs(usage, stderr);
  return CR_EXIT_USAGE;
}

int cr_cli_serve(int argc, char **argv) {
  static struct serve serve;
  cr_cli_settings_init(&serve.settings);
  int status = parse(argc, argv, &serve);
  if (status) {
    cr_config_free(&serve.settings.worker.config);
    cr_cli_settings_free(&serve.settings);
    return status < 0 ? 0 : status;
  }
  uv_loop_init(&serve.loop);
  serve.worker = cr_worker_create(&serve.loop, &serve.settings.worker, on_ready, &serve);
  static const int numbers[] = {SIGINT, SIGTERM};
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&serve.loop, &serve.signals[i]);
    serve.signals[i].data = &serve;
    uv_signal_start(&serve.signals[i], on_signal, numbers[i]);
  }
  uv_run(&serve.loop, UV_RUN_DEFAULT);
  uv_loop_close(&serve.loop);
  cr_cli_settings_free(&serve.settings);
  return serve.status;
}
