// Memory budgets of runtimes in bytes: what the engine's own limits allow, and room for the engine itself on top.
#pragma once
#include <stdint.h>

#include "guest/python/limits.h"
#include "worker/config.h"

// Thread stacks of libuv's pool, the young generation, code and V8's own bookkeeping.
#define CR_NODE_HEADROOM_MB 96u

static inline uint64_t cr_memory_node(const struct cr_config *config) {
  return (config->heap_mb + config->external_mb + CR_NODE_HEADROOM_MB) << 20;
}

static inline uint64_t cr_memory_python(uint64_t memory_mb) { return (memory_mb << 20) + CR_PYTHON_HEADROOM; }

// Quota of a python runtime's files (contract 9.8).
#define CR_PYTHON_SCRATCH_BYTES (256ull << 20)
#define CR_PYTHON_SCRATCH_ENTRIES 20000ull
