#include "guest/python/engine.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "guest/python/bridge.h"

#define WASM_STACK_BYTES (8u << 20)
#define STACK_BYTES (32u << 20)
#define RESERVATION_BYTES (4ull << 30)
#define GUARD_BYTES (32ull << 20)

// deps/wasmtime/src/lib.rs
void cr_wasm_config_tune(wasm_config_t *config, size_t stack);

static const char *const entry_names[CR_ENTRIES] = {"_initialize", "cr_start", "cr_input", "cr_wake", "cr_turn"};

// With the whole 32-bit address space reserved, no access needs a check. Deadlines are the worker's (SIGKILL), so the
// code has no interruption points; nothing unwinds through it, so it has no unwind tables.
static wasm_config_t *configuration(enum cr_engine_code code) {
  wasm_config_t *config = wasm_config_new();
  cr_wasm_config_tune(config, WASM_STACK_BYTES);
  wasmtime_config_max_wasm_stack_set(config, WASM_STACK_BYTES);
  wasmtime_config_memory_reservation_set(config, RESERVATION_BYTES);
  wasmtime_config_memory_guard_size_set(config, GUARD_BYTES);
  wasmtime_config_memory_may_move_set(config, false);
  wasmtime_config_memory_init_cow_set(config, true);
  wasmtime_config_native_unwind_info_set(config, false);
#ifdef CR_WASMTIME_COMPILER
  int fast = code == CR_ENGINE_FAST;
  wasmtime_config_cranelift_opt_level_set(config, fast ? WASMTIME_OPT_LEVEL_SPEED : WASMTIME_OPT_LEVEL_NONE);
  if (!fast) wasmtime_config_cranelift_regalloc_algorithm_set(config, WASMTIME_REGALLOC_SINGLE_PASS);
  // A guest is alone in its process: there is nothing to spy on.
  wasmtime_config_cranelift_flag_set(config, "enable_table_access_spectre_mitigation", "false");
  wasmtime_config_cranelift_flag_set(config, "enable_heap_access_spectre_mitigation", "false");
#else
  (void)code;
#endif
  return config;
}

int cr_engine_failed(wasmtime_error_t *error, wasm_trap_t *trap, struct cr_error *err) {
  wasm_byte_vec_t text;
  if (!error && !trap) return 0;
  if (error)
    wasmtime_error_message(error, &text);
  else
    wasm_trap_message(trap, &text);
  cr_error_set(err, CR_ENGINE, "%.*s", (int)text.size, text.data);
  wasm_byte_vec_delete(&text);
  if (error) wasmtime_error_delete(error);
  if (trap) wasm_trap_delete(trap);
  return -1;
}

int cr_engine_stack(char **arguments) {
  struct rlimit stack;
  if (getrlimit(RLIMIT_STACK, &stack)) return -1;
  if (stack.rlim_cur >= STACK_BYTES) return 0;
  stack.rlim_cur = STACK_BYTES;
  if (setrlimit(RLIMIT_STACK, &stack)) return -1;
  return execv("/proc/self/exe", arguments);
}

int cr_engine_init(struct cr_engine *engine, enum cr_engine_code code, struct cr_error *err) {
  *engine = (struct cr_engine){.engine = wasm_engine_new_with_config(configuration(code))};
  if (!engine->engine) return cr_error_set(err, CR_ENGINE, "wasmtime refuses its configuration");
  engine->store = wasmtime_store_new(engine->engine, NULL, NULL);
  engine->context = wasmtime_store_context(engine->store);
  engine->linker = wasmtime_linker_new(engine->engine);
  cr_wasi_init(&engine->wasi, engine->context);
  return cr_engine_failed(cr_wasi_define(&engine->wasi, engine->linker), NULL, err);
}

static wasm_functype_t *numbers(size_t parameters, size_t results) {
  wasm_valtype_t *list[2][6];
  wasm_valtype_vec_t in, out;
  for (size_t i = 0; i < parameters; i++) list[0][i] = wasm_valtype_new(WASM_I32);
  for (size_t i = 0; i < results; i++) list[1][i] = wasm_valtype_new(WASM_I32);
  wasm_valtype_vec_new(&in, parameters, list[0]);
  wasm_valtype_vec_new(&out, results, list[1]);
  return wasm_functype_new(&in, &out);
}

int cr_engine_import(struct cr_engine *engine, const char *name, size_t parameters, size_t results,
                     wasmtime_func_unchecked_callback_t call, void *of, struct cr_error *err) {
  wasm_functype_t *type = numbers(parameters, results);
  wasmtime_error_t *error = wasmtime_linker_define_func_unchecked(
      engine->linker, CR_BRIDGE_MODULE, strlen(CR_BRIDGE_MODULE), name, strlen(name), type, call, of, NULL);
  wasm_functype_delete(type);
  return cr_engine_failed(error, NULL, err);
}

int cr_engine_instantiate(struct cr_engine *engine, const wasmtime_module_t *module, struct cr_error *err) {
  wasm_trap_t *trap = NULL;
  wasmtime_error_t *error =
      wasmtime_linker_instantiate(engine->linker, engine->context, module, &engine->instance, &trap);
  if (cr_engine_failed(error, trap, err)) return -1;
  wasmtime_extern_t found;
  for (int i = 0; i < CR_ENTRIES; i++)
    if (wasmtime_instance_export_get(engine->context, &engine->instance, entry_names[i], strlen(entry_names[i]),
                                     &found))
      engine->entries[i] = found.of.func;
  if (!wasmtime_instance_export_get(engine->context, &engine->instance, "memory", 6, &found))
    return cr_error_set(err, CR_ENGINE, "the module has no memory");
  engine->wasi.memory = found.of.memory;
  return 0;
}

void cr_engine_limit(struct cr_engine *engine, uint64_t bytes) {
  wasmtime_store_limiter(engine->store, (int64_t)bytes, -1, -1, -1, -1);
}

int cr_engine_call(struct cr_engine *engine, enum cr_entry entry, const uint32_t *arguments, size_t count,
                   uint32_t *result, struct cr_error *err) {
  wasmtime_val_raw_t values[6] = {0};
  wasm_trap_t *trap = NULL;
  if (!engine->entries[entry].store_id) return cr_error_set(err, CR_ENGINE, "the module has no %s", entry_names[entry]);
  for (size_t i = 0; i < count; i++) values[i].i32 = (int32_t)arguments[i];
  wasmtime_error_t *error =
      wasmtime_func_call_unchecked(engine->context, &engine->entries[entry], values, count ? count : 1, &trap);
  if (cr_engine_failed(error, trap, err)) return -1;
  *result = (uint32_t)values[0].i32;
  return 0;
}

void *cr_engine_memory(struct cr_engine *engine, uint32_t address, uint64_t length) {
  uint64_t size = wasmtime_memory_data_size(engine->context, &engine->wasi.memory);
  if (length > size || address > size - length) return NULL;
  return wasmtime_memory_data(engine->context, &engine->wasi.memory) + address;
}
