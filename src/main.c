// code-runner: runs untrusted JavaScript and Python in sealed forks of warm engines.
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cli/cli.h"

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *what;
} commands[] = {
    {"serve", cr_cli_serve, "the worker"},
    {"run", cr_cli_run, "one run, like a program"},
    {"trigger", cr_cli_trigger, "calls a function on a bus"},
    {"engine", cr_cli_engine, "a bus alone"},
    {"doctor", cr_cli_doctor, "what works on this machine"},
    {"trigger", cr_cli_trigger, "calls a function on the bus"},
    {"engine", cr_cli_engine, "the embedded engine alone"},
    {"bench", cr_cli_bench, "times runs inside the worker"},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static void print_usage(FILE *to) {
  fputs("usage: code-runner COMMAND [OPTION…]\n", to);
  for (size_t i = 0; i < COMMANDS; i++) fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].what);
  fputs("code-runner COMMAND --help tells more; --version prints the version.\n", to);
}

int main(int argc, char **argv) {
  cr_log_init();
  if (argc > 1 && !strcmp(argv[1], "--version")) {
    puts("code-runner " CR_VERSION);
    return 0;
  }
  if (argc > 1 && !strcmp(argv[1], "--help")) {
    print_usage(stdout);
    return 0;
  }
  for (size_t i = 0; argc > 1 && i < COMMANDS; i++)
    if (!strcmp(commands[i].name, argv[1])) return commands[i].run(argc - 1, argv + 1);
  // Options without a command are those of serve.
  if (argc == 1 || (argv[1][0] == '-' && argv[1][1] == '-')) return cr_cli_serve(argc, argv);
  print_usage(stderr);
  return CR_EXIT_USAGE;
}
