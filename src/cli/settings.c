#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "host/zygote.h"

#define SPARES 4

static char *find_libexec(void) {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return cr_strdup(".");
  path[length] = 0;
  return cr_format("%s/libexec/code-runner", dirname(dirname(path)));
}

void cr_cli_settings_init(struct cr_cli_settings *settings) {
  *settings = (struct cr_cli_settings){.libexec = find_libexec()};
  settings->worker.spares = SPARES;
  settings->worker.require_layers = 1;
  settings->worker.langs[CR_NODE] = settings->worker.langs[CR_PYTHON] = 1;
  settings->worker.libexec = settings->libexec;
  cr_config_defaults(&settings->worker.config);
}

void cr_cli_settings_free(struct cr_cli_settings *settings) {
  free(settings->libexec);
  settings->libexec = NULL;
}

const char *cr_cli_value(int argc, char **argv, int *at, const char *name) {
  size_t length = strlen(name);
  if (strncmp(argv[*at], name, length) != 0) return NULL;
  if (argv[*at][length] == '=') return argv[*at] + length + 1;
  if (argv[*at][length] || *at + 1 >= argc) return NULL;
  return argv[++*at];
}

static int complain(const char *text) {
  fprintf(stderr, "code-runner: %s\n", text);
  return -1;
}

static int read_config(const char *path, struct cr_cli_settings *settings) {
  struct cr_error err = {0};
  if (!cr_config_load(path, &settings->worker.config, &err)) return 1;
  complain(err.message);
  cr_error_clear(&err);
  return -1;
}

int cr_cli_common_option(int argc, char **argv, int *at, struct cr_cli_settings *settings) {
  const char *value = cr_cli_value(argc, argv, at, "--config");
  if (value) return read_config(value, settings);
  if ((value = cr_cli_value(argc, argv, at, "--sandbox"))) {
    settings->worker.require_layers = !strcmp(value, "require");
    if (strcmp(value, "require") != 0 && strcmp(value, "best-effort") != 0)
      return complain("--sandbox is `require` or `best-effort`");
    return 1;
  }
  if ((value = cr_cli_value(argc, argv, at, "--spares"))) {
    char *end;
    unsigned long spares = strtoul(value, &end, 10);
    if (*end || !*value || spares > 256) return complain("--spares is a number from 0 to 256");
    settings->worker.spares = (unsigned)spares;
    return 1;
  }
  return 0;
}

int cr_cli_missing_layers(struct cr_worker *worker, char *text, size_t size) {
  static const struct {
    uint32_t layer;
    const char *name;
  } table[] = {
      {CR_LAYER_USER_NS, "user namespace"},   {CR_LAYER_PID_NS, "pid namespace"},
      {CR_LAYER_MOUNT_NS, "mount namespace"}, {CR_LAYER_NET_NS, "network namespace"},
      {CR_LAYER_IPC_NS, "ipc namespace"},     {CR_LAYER_UTS_NS, "uts namespace"},
      {CR_LAYER_EMPTY_ROOT, "empty root"},    {CR_LAYER_TMPFS, "tmpfs quotas"},
      {CR_LAYER_LANDLOCK, "Landlock"},
  };
  int missing = 0;
  size_t used = 0;
  text[0] = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    int lacks = 0;
    for (int lang = 0; lang < CR_LANGS; lang++) {
      struct cr_zygote *zygote = cr_worker_zygote(worker, (enum cr_lang)lang);
      lacks |= zygote && cr_zygote_state(zygote) == CR_ZYGOTE_READY && !(cr_zygote_layers(zygote) & table[i].layer);
    }
    if (!lacks) continue;
    int n = snprintf(text + used, size - used, "%s%s", missing++ ? ", " : "", table[i].name);
    if (n > 0 && (size_t)n < size - used) used += (size_t)n;
  }
  return missing;
}

int cr_cli_exit_status(const char *code) {
  static const char *const codes[] = {CR_ENGINE,  CR_INVALID_REQUEST,    CR_CAPACITY,
                                      CR_TIMEOUT, CR_RESOURCE_EXHAUSTED, CR_RUNTIME_NOT_FOUND};
  for (int i = 0; i < (int)(sizeof codes / sizeof *codes); i++)
    if (!strcmp(codes[i], code)) return CR_EXIT_ENGINE + i;
  return CR_EXIT_ENGINE;
}
