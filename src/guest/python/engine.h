// The wasm engine and one instance of the interpreter in it. Used by the zygote and by the tool that bakes the
// snapshot, which must agree on the configuration.
#pragma once
#include <stdint.h>

#include "base/err.h"
#include "guest/python/wasi/wasi.h"

// The reactor's functions (cpython/reactor.c says what they do).
enum cr_entry {
  CR_ENTRY_INITIALIZE,  // bake only, with START
  CR_ENTRY_START,
  CR_ENTRY_INPUT,
  CR_ENTRY_WAKE,
  CR_ENTRY_TURN,
  CR_ENTRIES,
};

struct cr_engine {
  wasm_engine_t *engine;
  wasmtime_store_t *store;
  wasmtime_context_t *context;
  wasmtime_linker_t *linker;
  wasmtime_instance_t instance;
  struct cr_wasi wasi;
  wasmtime_func_t entries[CR_ENTRIES];
};

// What the compiler is asked for, where there is one: code that is FAST, or code that is there QUICKLY.
enum cr_engine_code { CR_ENGINE_FAST, CR_ENGINE_QUICK };

// Wasm runs on the main thread's stack, whose size is that of the limit when the program started: executes the program
// again with `arguments` if it was less than the engine needs. -1 (errno) when the limit cannot be raised.
int cr_engine_stack(char **arguments);

// An engine without a module. `engine` must stay where it is. 0, or -1 and `err` (CR_ENGINE).
int cr_engine_init(struct cr_engine *engine, enum cr_engine_code code, struct cr_error *err);

// Defines a function of the module CR_BRIDGE_MODULE, with parameters (at most 6) and results that are all i32.
int cr_engine_import(struct cr_engine *engine, const char *name, size_t parameters, size_t results,
                     wasmtime_func_unchecked_callback_t call, void *of, struct cr_error *err);

// Instantiates. Entries that the module does not have (those for the bake only) cannot be called.
int cr_engine_instantiate(struct cr_engine *engine, const wasmtime_module_t *module, struct cr_error *err);

// The most the guest's memory may be from now on, in bytes. A larger demand fails in the guest.
void cr_engine_limit(struct cr_engine *engine, uint64_t bytes);

// Calls an entry with 32-bit numbers; `*result` gets its answer (0 if it has none). -1 and `err` when the guest
// trapped.
int cr_engine_call(struct cr_engine *engine, enum cr_entry entry, const uint32_t *arguments, size_t count,
                   uint32_t *result, struct cr_error *err);

// Turns what wasmtime reports into `err` and frees it. Returns -1, or 0 when there is nothing.
int cr_engine_failed(wasmtime_error_t *error, wasm_trap_t *trap, struct cr_error *err);

// Guest memory, or NULL when the range is not inside it.
void *cr_engine_memory(struct cr_engine *engine, uint32_t address, uint64_t length);
