// python-zygote PYTHON.CWASM: maps the interpreter that the bake left, warms it, and forks runtimes (docs/python.md).
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest/python/limits.h"
#include "guest/python/turns.h"
#include "guest/zygote.h"

#define WARM_ROUNDS 20

static _Noreturn void die(const char *what, const struct cr_error *err) {
  dprintf(STDERR_FILENO, "code-runner: python: %s: %s\n", what, err->message ? err->message : "");
  _exit(1);
}

static struct cr_turns *boot(struct cr_engine *engine, const char *path) {
  struct cr_error err = {0};
  wasmtime_module_t *module = NULL;
  if (cr_engine_init(engine, CR_ENGINE_FAST, &err)) die("wasmtime", &err);
  struct cr_turns *turns = cr_turns_create(engine, &err);
  if (!turns) die("wasmtime", &err);
  if (cr_engine_failed(wasmtime_module_deserialize_file(engine->engine, path, &module), NULL, &err)) die(path, &err);
  if (cr_engine_instantiate(engine, module, &err)) die(path, &err);
  wasmtime_module_delete(module);
  return turns;
}

// A file that would be larger fails (EFBIG) instead of ending the process (setrlimit(2)).
static void limit_files(void) {
  struct rlimit limit = {CR_PYTHON_FILE_MAX, CR_PYTHON_FILE_MAX};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
}

int main(int argc, char **argv) {
  static struct cr_engine engine;
  struct cr_runtime runtime;
  if (argc != 2) return 2;
  if (cr_engine_stack(argv)) die("RLIMIT_STACK", &(struct cr_error){0});
  struct cr_turns *turns = boot(&engine, argv[1]);
  for (int i = 0; i < WARM_ROUNDS; i++) cr_turns_warm(turns);
  limit_files();
  struct cr_zygote_options options = {.version = CR_PYTHON_VERSION, .policy = CR_POLICY_PYTHON};
  cr_zygote_serve(&options, &runtime);
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0 || cr_wasi_preopen(&engine.wasi, "/", root)) _exit(1);
  cr_engine_limit(&engine, runtime.data_bytes > CR_PYTHON_HEADROOM ? runtime.data_bytes - CR_PYTHON_HEADROOM : 0);
  cr_turns_warm(turns);
  cr_turns_serve(turns, runtime.stream);
}
