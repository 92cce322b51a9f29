// uthash with a keyed hash: ids are chosen by peers, who must not be able to make a table degenerate.
// Include this, never <uthash.h> itself, in the bus.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

// SipHash-1-3 (https://www.aumasson.jp/siphash/siphash.pdf) under a key drawn once a process, folded to 32 bits.
uint32_t cr_hash(const void *bytes, size_t length);

#define HASH_FUNCTION(key, length, value) ((value) = cr_hash(key, length))
#define uthash_fatal(message) cr_out_of_memory()
#include <uthash.h>
