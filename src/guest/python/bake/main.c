// python-bake BASE.WASM LIBRARY WRAPPER OUT.CWASM: boots the interpreter in BASE.WASM, freezes it, compiles it. LIBRARY
// is a directory with stdlib.zip, WRAPPER one with boot.py and its parts.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "guest/python/bake/module.h"
#include "guest/python/engine.h"

#define MODULE_MAX (256u << 20)

static const char *const dropped[] = {"_initialize", "cr_start", "__stack_pointer", NULL};

static _Noreturn void die(const char *what, struct cr_error *err) {
  fprintf(stderr, "python-bake: %s: %s\n", what, err ? err->message : strerror(errno));
  exit(1);
}

static __attribute__((noreturn)) void ended(void *of, int status) {
  (void)of;
  fprintf(stderr, "python-bake: the interpreter exited with status %d\n", status);
  exit(1);
}

static void read_file(const char *path, struct cr_buf *into) {
  FILE *file = fopen(path, "re");
  if (!file) die(path, NULL);
  for (size_t got = 1; got;) {
    if (cr_buf_reserve(into, 65536)) die(path, NULL);
    got = fread(into->data + into->len, 1, into->cap - into->len, file);
    into->len += got;
  }
  if (ferror(file)) die(path, NULL);
  fclose(file);
}

// Renamed into place, so that an interrupted bake leaves no half of a module.
static void write_file(const char *path, const wasm_byte_vec_t *bytes) {
  cr_autofree char *part = cr_format("%s.part", path);
  FILE *file = fopen(part, "we");
  if (!file || fwrite(bytes->data, 1, bytes->size, file) != bytes->size || fclose(file) || rename(part, path))
    die(path, NULL);
}

// The runtime's half is not there: the wrapper calls nobody while it boots.
static wasm_trap_t *no_host(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *values, size_t count) {
  (void)env;
  (void)caller;
  (void)values;
  (void)count;
  return wasmtime_trap_new("no host", 7);
}

static void preopen(struct cr_engine *engine, const char *name, const char *path) {
  int host = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (host < 0) die(path, NULL);
  cr_wasi_preopen(&engine->wasi, name, host);
}

static void call(struct cr_engine *engine, enum cr_entry entry, uint32_t argument, uint32_t *result) {
  struct cr_error err = {0};
  if (cr_engine_call(engine, entry, &argument, entry != CR_ENTRY_INITIALIZE, result, &err))
    die("the interpreter", &err);
}

static void start(struct cr_engine *engine, const char *wrapper) {
  cr_autobuf text = CR_BUF(1u << 20);
  cr_autofree char *path = cr_format("%s/boot.py", wrapper);
  uint32_t input = 0, failed = 1;
  read_file(path, &text);
  call(engine, CR_ENTRY_INITIALIZE, 0, &failed);
  call(engine, CR_ENTRY_INPUT, (uint32_t)text.len, &input);
  void *at = cr_engine_memory(engine, input, text.len);
  if (!input || !at) die("no memory in the guest", NULL);
  memcpy(at, text.data, text.len);
  call(engine, CR_ENTRY_START, (uint32_t)text.len, &failed);
  if (failed) exit(1);
}

static struct cr_snapshot snapshot(struct cr_engine *engine) {
  wasmtime_extern_t found;
  wasmtime_val_t stack;
  if (!wasmtime_instance_export_get(engine->context, &engine->instance, "__stack_pointer", 15, &found))
    die("no __stack_pointer", NULL);
  wasmtime_global_get(engine->context, &found.of.global, &stack);
  return (struct cr_snapshot){.memory = wasmtime_memory_data(engine->context, &engine->wasi.memory),
                              .length = wasmtime_memory_data_size(engine->context, &engine->wasi.memory),
                              .stack_pointer = (uint32_t)stack.of.i32};
}

static wasmtime_module_t *compile(struct cr_engine *engine, const struct cr_buf *wasm) {
  struct cr_error err = {0};
  wasmtime_module_t *module = NULL;
  if (cr_engine_failed(wasmtime_module_new(engine->engine, wasm->data, wasm->len, &module), NULL, &err))
    die("compiling", &err);
  return module;
}

static void bake(const char *base_path, const char *library, const char *wrapper, const char *work,
                 struct cr_buf *baked) {
  struct cr_engine engine;
  struct cr_error err = {0};
  cr_autobuf base = CR_BUF(MODULE_MAX);
  read_file(base_path, &base);
  if (cr_engine_init(&engine, CR_ENGINE_QUICK, &err) ||
      cr_engine_import(&engine, "trigger", 5, 1, no_host, NULL, &err) ||
      cr_engine_import(&engine, "take", 1, 0, no_host, NULL, &err))
    die("wasmtime", &err);
  engine.wasi.exit = ended;
  engine.wasi.frozen = 1;
  preopen(&engine, "/", work);
  preopen(&engine, "/lib", library);
  preopen(&engine, "/wrapper", wrapper);
  wasmtime_module_t *module = compile(&engine, &base);
  if (cr_engine_instantiate(&engine, module, &err)) die("instantiating", &err);
  start(&engine, wrapper);
  struct cr_snapshot taken = snapshot(&engine);
  if (cr_module_bake(base.data, base.len, &taken, dropped, baked, &err)) die(base_path, &err);
  printf("python-bake: %zu KiB of memory, module %zu KiB\n", taken.length >> 10, baked->len >> 10);
  wasmtime_module_delete(module);
  wasmtime_store_delete(engine.store);
}

static void compile_to(const struct cr_buf *baked, const char *path) {
  struct cr_engine engine;
  struct cr_error err = {0};
  wasm_byte_vec_t compiled;
  if (cr_engine_init(&engine, CR_ENGINE_FAST, &err)) die("wasmtime", &err);
  wasmtime_module_t *module = compile(&engine, baked);
  if (cr_engine_failed(wasmtime_module_serialize(module, &compiled), NULL, &err)) die("serialising", &err);
  write_file(path, &compiled);
  printf("python-bake: compiled %zu KiB\n", compiled.size >> 10);
}

static void empty_root(char *root) {
  if (!mkdtemp(root)) die(root, NULL);
  cr_autofree char *work = cr_format("%s/work", root);
  if (mkdir(work, 0700)) die(work, NULL);
}

static void remove_root(const char *root) {
  cr_autofree char *work = cr_format("%s/work", root);
  rmdir(work);
  rmdir(root);
}

int main(int argc, char **argv) {
  char root[] = "/tmp/python-bake.XXXXXX";
  if (argc != 5) {
    fprintf(stderr, "usage: python-bake BASE.WASM LIBRARY WRAPPER OUT.CWASM\n");
    return 2;
  }
  if (cr_engine_stack(argv)) die("RLIMIT_STACK", NULL);
  cr_autobuf baked = CR_BUF(MODULE_MAX);
  empty_root(root);
  bake(argv[1], argv[2], argv[3], root, &baked);
  remove_root(root);
  compile_to(&baked, argv[4]);
  return 0;
}
