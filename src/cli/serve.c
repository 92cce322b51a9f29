// code-runner serve: the worker, on a bus or on standard input and output, until it is told to end.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "bus/client.h"
#include "bus/engine.h"
#include "cli/cli.h"
#include "cli/manifest.h"
#include "cli/stdio.h"
#include "console/console.h"
#include "worker/link.h"
#include "worker/settings.h"

static const char usage[] =
    "usage: code-runner serve [--url WS-URL | --embedded[=HOST:PORT] [--console[=PORT]] | --stdio] [--config FILE] "
    "[--manifest]\n"
    "                         [--sandbox require|best-effort] [--spares N]\n"
    "  --url         bus to connect to (environment III_URL; ws://127.0.0.1:49134)\n"
    "  --embedded    brings the bus along: an iii engine in this process, on loopback\n"
    "  --console     with --embedded: a page to try it, on loopback; --console=PORT chooses the port (0: any)\n"
    "  --stdio       no bus: one JSON request a line on standard input, one answer a line on standard output\n"
    "  --config      YAML file with settings: the first value of the bus's configuration entry, or the settings "
    "themselves\n"
    "  --manifest    prints the manifest and ends\n"
    "  --sandbox     whether a layer that this host refuses is an error (require, the default)\n"
    "  --spares      runtimes forked ahead per language\n";

#define CONSOLE_PORT 49135

enum mode { MODE_BUS, MODE_EMBEDDED, MODE_STDIO };

struct serve {
  uv_loop_t loop;
  struct cr_cli_settings settings;
  enum mode mode;
  const char *url;
  const char *address;  // of the embedded engine, or NULL
  int manifest;
  int console_port;  // -1: no console
  struct cr_worker *worker;
  struct cr_stdio *stdio;
  struct cr_bus *bus;
  struct cr_engine *engine;
  struct cr_console *console;
  uv_signal_t signals[2];
  int configured;
  int status;
  int stopping;
};

static void on_worker_ready(void *of, struct cr_worker *worker);

static void on_bus_closed(void *of) {
  struct serve *serve = of;
  serve->bus = NULL;
  if (serve->engine) cr_engine_stop(serve->engine, NULL, NULL);
  serve->engine = NULL;
}

static void stop(struct serve *serve, int status) {
  if (serve->stopping) return;
  serve->stopping = 1;
  serve->status = status;
  if (serve->stdio) cr_stdio_free(serve->stdio);
  cr_console_stop(serve->console);
  if (serve->worker) cr_worker_free(serve->worker);
  if (serve->bus)
    cr_bus_close(serve->bus, on_bus_closed, serve);
  else
    on_bus_closed(serve);
  for (int i = 0; i < 2; i++) uv_close((uv_handle_t *)&serve->signals[i], NULL);
}

static void on_stdio_done(void *of) { stop(of, 0); }

static void on_signal(uv_signal_t *handle, int number) {
  (void)number;
  stop(handle->data, 0);
}

static int layers_suffice(struct serve *serve) {
  char missing[256];
  int required = serve->settings.worker.require_layers;
  if (!cr_cli_missing_layers(serve->worker, missing, sizeof missing)) return 1;
  cr_log(required ? CR_LOG_ERROR : CR_LOG_WARN, "this host refuses sandbox layers: %s%s", missing,
         required ? " (--sandbox=best-effort runs without them)" : "");
  return !required;
}

static void on_worker_ready(void *of, struct cr_worker *worker) {
  struct serve *serve = of;
  if (!layers_suffice(serve)) {
    stop(serve, CR_EXIT_ENGINE);
    return;
  }
  if (serve->mode == MODE_STDIO)
    serve->stdio = cr_stdio_start(&serve->loop, worker, on_stdio_done, serve);
  else
    cr_worker_attach(worker, serve->bus);
  cr_log(CR_LOG_INFO, "ready");
}

static void start_worker(struct serve *serve) {
  serve->worker = cr_worker_create(&serve->loop, &serve->settings.worker, on_worker_ready, serve);
}

static void on_settings(void *of, struct cr_config *config, const struct cr_error *err) {
  struct serve *serve = of;
  if (serve->stopping) return;
  if (err && strcmp(err->code, CR_SETTINGS_NO_WORKER) != 0) {
    cr_log(CR_LOG_ERROR, "%s", err->message);
    stop(serve, CR_EXIT_ENGINE);
    return;
  }
  if (err) {
    cr_log(CR_LOG_WARN, "%s: settings are those of --config, or the defaults", err->message);
  } else {
    cr_config_free(&serve->settings.worker.config);
    serve->settings.worker.config = *config;
  }
  start_worker(serve);
}

static void on_state(void *of, enum cr_bus_state state, const char *why) {
  struct serve *serve = of;
  if (state == CR_BUS_CONNECTED) {
    cr_log(CR_LOG_INFO, "connected to the bus");
    if (!serve->configured) cr_settings_load(serve->bus, &serve->settings.worker.config, on_settings, serve);
    serve->configured = 1;
  } else if (state == CR_BUS_WAITING) {
    cr_log(CR_LOG_WARN, "no bus: %s (`code-runner serve --embedded` brings one along)", why ? why : "connection lost");
  } else if (state == CR_BUS_FAILED) {
    cr_log(CR_LOG_ERROR, "the bus refuses this worker: %s", why ? why : "");
    stop(serve, CR_EXIT_ENGINE);
  }
}

static void on_conflict(void *of, const struct cr_bus_conflict *conflict) {
  (void)of;
  cr_log(CR_LOG_ERROR, "%s: %s belongs to another worker", conflict->code,
         conflict->function_id   ? conflict->function_id
         : conflict->worker_name ? conflict->worker_name
                                 : "");
}

static int start_engine(struct serve *serve) {
  struct cr_error err = {0};
  char host[128];
  struct cr_engine_options options = {.port = CR_ENGINE_PORT};
  const char *colon = serve->address ? strrchr(serve->address, ':') : NULL;
  if (colon) {
    snprintf(host, sizeof host, "%.*s", (int)(colon - serve->address), serve->address);
    if (*host) options.host = host;
    options.port = (int)strtol(colon + 1, NULL, 10);
  }
  serve->engine = cr_engine_start(&serve->loop, &options, &err);
  if (!serve->engine) {
    cr_log(CR_LOG_ERROR, "%s", err.message);
    cr_error_clear(&err);
    return -1;
  }
  serve->url = cr_engine_url(serve->engine);
  printf("%s\n", serve->url);
  if (serve->console_port >= 0) {
    serve->console = cr_console_start(&serve->loop, serve->console_port, cr_engine_port(serve->engine), &err);
    if (!serve->console) {
      cr_log(CR_LOG_ERROR, "%s", err.message);
      cr_error_clear(&err);
      return -1;
    }
    printf("console: %s\n", cr_console_url(serve->console));
  }
  fflush(stdout);
  return 0;
}

static int start_bus(struct serve *serve) {
  static const struct cr_bus_events events = {.state = on_state, .conflict = on_conflict};
  struct cr_error err = {0};
  const struct cr_bus_options options = {.url = serve->url,
                                         .name = "code-runner",
                                         .version = CR_VERSION,
                                         .description = "Sandboxed JavaScript and Python"};
  serve->bus = cr_bus_create(&serve->loop, &options, &events, serve, &err);
  if (serve->bus) return 0;
  cr_log(CR_LOG_ERROR, "%s", err.message);
  cr_error_clear(&err);
  return -1;
}

static int parse_word(int argc, char **argv, int *at, struct serve *serve) {
  const char *value;
  if (!strcmp(argv[*at], "--stdio")) {
    serve->mode = MODE_STDIO;
  } else if (!strcmp(argv[*at], "--embedded") || !strncmp(argv[*at], "--embedded=", 11)) {
    serve->mode = MODE_EMBEDDED;
    serve->address = argv[*at][10] ? argv[*at] + 11 : NULL;
  } else if (!strcmp(argv[*at], "--console") || !strncmp(argv[*at], "--console=", 10)) {
    serve->console_port = argv[*at][9] ? (int)strtol(argv[*at] + 10, NULL, 10) : CONSOLE_PORT;
  } else if (!strcmp(argv[*at], "--manifest")) {
    serve->manifest = 1;
  } else if ((value = cr_cli_value(argc, argv, at, "--url"))) {
    serve->url = value;
  } else {
    return -1;
  }
  return 0;
}

static int parse(int argc, char **argv, struct serve *serve) {
  const char *url = getenv("III_URL");
  serve->url = url && *url ? url : NULL;
  serve->console_port = -1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--help")) {
      fputs(usage, stdout);
      return -1;
    }
    int taken = cr_cli_common_option(argc, argv, &i, &serve->settings);
    if (taken < 0) return CR_EXIT_USAGE;
    if (taken || !parse_word(argc, argv, &i, serve)) continue;
    fputs(usage, stderr);
    return CR_EXIT_USAGE;
  }
  if (serve->console_port >= 0 && serve->mode != MODE_EMBEDDED) {
    fputs("code-runner: --console goes with --embedded\n", stderr);
    return CR_EXIT_USAGE;
  }
  return 0;
}

static int start(struct serve *serve) {
  uv_loop_init(&serve->loop);
  static const int numbers[] = {SIGINT, SIGTERM};
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&serve->loop, &serve->signals[i]);
    serve->signals[i].data = serve;
    uv_signal_start(&serve->signals[i], on_signal, numbers[i]);
  }
  if (serve->mode == MODE_STDIO) {
    start_worker(serve);
    return 0;
  }
  if (serve->mode == MODE_EMBEDDED && start_engine(serve)) return -1;
  return start_bus(serve);
}

int cr_cli_serve(int argc, char **argv) {
  static struct serve serve;
  cr_cli_settings_init(&serve.settings);
  int status = parse(argc, argv, &serve);
  if (!status && serve.manifest) {
    cr_cli_manifest();
    status = -1;
  }
  if (status) {
    cr_config_free(&serve.settings.worker.config);
    cr_cli_settings_free(&serve.settings);
    return status < 0 ? 0 : status;
  }
  if (start(&serve)) stop(&serve, CR_EXIT_ENGINE);
  uv_run(&serve.loop, UV_RUN_DEFAULT);
  uv_loop_close(&serve.loop);
  cr_cli_settings_free(&serve.settings);
  return serve.status;
}
