// Rewrites a WebAssembly module (core specification 2.0, section 5) so that it starts where an instance of it stopped.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct cr_snapshot {
  const uint8_t *memory;
  size_t length;           // a multiple of the wasm page size
  uint32_t stack_pointer;  // the module's only mutable global; the stack is below it (wasm-ld --stack-first)
};

// Appends to `out` the module with the snapshot as its memory, without its names and without the exports in `dropped`
// (NULL-terminated). 0, or -1 and `err` when the module is not of the shape that our link makes.
int cr_module_bake(const uint8_t *module, size_t length, const struct cr_snapshot *snapshot, const char *const *dropped,
                   struct cr_buf *out, struct cr_error *err);
