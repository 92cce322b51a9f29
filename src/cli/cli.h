// The commands of the program, one file each. Every one returns the exit status.
#pragma once
#include "worker/worker.h"

#define CR_EXIT_USAGE 2
#define CR_EXIT_ENGINE 70  // and above: infrastructure errors

int cr_cli_serve(int argc, char **argv);
int cr_cli_run(int argc, char **argv);
int cr_cli_doctor(int argc, char **argv);
int cr_cli_bench(int argc, char **argv);
int cr_cli_trigger(int argc, char **argv);
int cr_cli_engine(int argc, char **argv);

// What serve, run and doctor have in common: settings from options. Owned: cr_cli_settings_free.
struct cr_cli_settings {
  struct cr_worker_settings worker;
  char *libexec;
};

// Reads `--config FILE`, `--sandbox require|best-effort`, `--spares N` at argv[*at]; 1 when it took an option (and
// moved *at to its last word), 0 when it is another, -1 after a message on stderr.
int cr_cli_common_option(int argc, char **argv, int *at, struct cr_cli_settings *settings);
void cr_cli_settings_init(struct cr_cli_settings *settings);
void cr_cli_settings_free(struct cr_cli_settings *settings);
// The value of option argv[*at], "--name value" or "--name=value"; NULL when argv[*at] is not `name`, or has no value.
const char *cr_cli_value(int argc, char **argv, int *at, const char *name);

// Names of the sandbox layers that are missing, into `text`; returns how many.
int cr_cli_missing_layers(struct cr_worker *worker, char *text, size_t size);
int cr_cli_exit_status(const char *error_code);
