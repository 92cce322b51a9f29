// WASI preview 1 (github.com/WebAssembly/WASI, legacy/preview1/docs.md) as far as CPython uses it: files below
// preopened directories, the three standard streams, clocks, randomness and sleep. There are no sockets, arguments or
// variables.
#pragma once
#include <stdint.h>
#include <wasmtime.h>

#define CR_WASI_FILES 256
#define CR_WASI_PREOPENS 4
#define CR_WASI_FIRST_PREOPEN 3

struct cr_wasi_file {
  int host;  // descriptor, or -1: free
  uint8_t type;
  uint64_t rights;
};

struct cr_wasi {
  wasmtime_context_t *context;
  wasmtime_memory_t memory;  // of the instance; set once it exists
  struct cr_wasi_file files[CR_WASI_FILES];
  const char *preopens[CR_WASI_PREOPENS];
  // What proc_exit does.
  __attribute__((noreturn)) void (*exit)(void *of, int status);
  void *of;
  // Clocks stand still and random numbers repeat: a snapshot is then the same each time it is made.
  int frozen;
};

// The standard streams as descriptors 0, 1, 2 of the guest, and nothing else. `wasi` must stay where it is.
void cr_wasi_init(struct cr_wasi *wasi, wasmtime_context_t *context);

// Gives the guest directory `host` under the absolute path `name`; both stay the caller's. Everything the guest opens
// by path is resolved below it: absolute links and `..` end there as they do in a root directory (openat2(2)). The
// order of calls is the order of descriptors. 0, or -1 when there are CR_WASI_PREOPENS.
int cr_wasi_preopen(struct cr_wasi *wasi, const char *name, int host);

// Defines the functions of the module wasi_snapshot_preview1.
wasmtime_error_t *cr_wasi_define(struct cr_wasi *wasi, wasmtime_linker_t *linker);
