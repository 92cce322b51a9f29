// `code-runner engine`: the embedded engine without a worker.
#include "bus/engine.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static const char usage[] =
    "usage: code-runner engine [OPTION…]\n"
    "A local iii bus. Prints its address and serves until it is ended (SIGINT, SIGTERM).\n"
    "  --host ADDRESS     numeric address to listen on (127.0.0.1)\n"
    "  --port PORT        0: any free one (49134)\n"
    "  --config-dir DIR   configuration files (./config)\n"
    "  --state FILE       keep state::* in this file; without it, it lives in memory only\n"
    "  --allow-remote     listen on an address that other machines reach; whoever reaches it may call everything\n"
    "  --any-origin       let browser pages of any origin connect, not only this machine's\n";

struct program {
  struct cr_engine *engine;
  uv_signal_t signals[2];
};

static void on_stopped(void *of) {
  struct program *program = of;
  for (int i = 0; i < 2; i++) uv_close((uv_handle_t *)&program->signals[i], NULL);
}

static void on_signal(uv_signal_t *handle, int number) {
  (void)number;
  struct program *program = handle->data;
  cr_engine_stop(program->engine, on_stopped, program);
}

static int read_number(const char *text, long most, long *number) {
  char *end = NULL;
  *number = strtol(text, &end, 10);
  return *text && !*end && *number >= 0 && *number <= most ? 0 : -1;
}

// 0, or -1: not an option, or one without a usable value.
static int read_option(int argc, char **argv, int *at, struct cr_engine_options *options) {
  const char *value;
  long number;
  if ((value = cr_cli_value(argc, argv, at, "--host"))) {
    options->host = value;
  } else if ((value = cr_cli_value(argc, argv, at, "--port"))) {
    if (read_number(value, 65535, &number)) return -1;
    options->port = (int)number;
  } else if ((value = cr_cli_value(argc, argv, at, "--config-dir"))) {
    options->config_dir = value;
  } else if ((value = cr_cli_value(argc, argv, at, "--state"))) {
    options->state_file = value;
  } else if (!strcmp(argv[*at], "--allow-remote")) {
    options->remote = 1;
  } else if (!strcmp(argv[*at], "--any-origin")) {
    options->any_origin = 1;
  } else {
    return -1;
  }
  return 0;
}

static int serve(const struct cr_engine_options *options) {
  static const int numbers[] = {SIGINT, SIGTERM};
  uv_loop_t loop;
  struct program program = {0};
  struct cr_error err = {0};
  if (uv_loop_init(&loop)) return CR_EXIT_ENGINE;
  program.engine = cr_engine_start(&loop, options, &err);
  if (!program.engine) {
    fprintf(stderr, "code-runner: %s\n", err.message);
    cr_error_clear(&err);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    return CR_EXIT_ENGINE;
  }
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&loop, &program.signals[i]);
    program.signals[i].data = &program;
    uv_signal_start(&program.signals[i], on_signal, numbers[i]);
  }
  puts(cr_engine_url(program.engine));
  fflush(stdout);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  return 0;
}

int cr_cli_engine(int argc, char **argv) {
  struct cr_engine_options options = {.port = CR_ENGINE_PORT};
  const char *grace = getenv("III_NAMESPACE_GRACE_MS");
  long number;
  if (grace && !read_number(grace, 3600000, &number)) options.grace_ms = (uint32_t)number;
  for (int at = 1; at < argc; at++) {
    if (!strcmp(argv[at], "--help") || !strcmp(argv[at], "-h")) {
      fputs(usage, stdout);
      return 0;
    }
    if (read_option(argc, argv, &at, &options)) {
      fprintf(stderr, "code-runner: not an option of engine, or without a usable value: %s\n%s", argv[at], usage);
      return CR_EXIT_USAGE;
    }
  }
  return serve(&options);
}
