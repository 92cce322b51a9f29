// Sealing a runtime: what a fork gives up before it reads its first frame. docs/security.md.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum cr_policy {
  CR_POLICY_NODE,    // files in /work, threads of its own (libuv's pool), timers
  CR_POLICY_PYTHON,  // the calls that our WASI makes
};

// Made once in the zygote: the filter is compiled there, so that a fork only installs it.
struct cr_seal;
// NULL with a line on stderr when this kernel has no seccomp.
struct cr_seal *cr_seal_prepare(enum cr_policy policy);

// Bits of enum cr_layer that the calling process can have.
uint32_t cr_seal_layers(void);

// In the fork, in this order after the root was changed: resource limits, Landlock (everything outside /work read
// only), user id, capabilities, no_new_privs, seccomp. `data_limit`: RLIMIT_DATA in bytes (getrlimit(2)). Ends the
// process with status 125 and a line on stderr when a part that must hold does not.
void cr_seal_apply(const struct cr_seal *seal, uint64_t data_limit, uint32_t uid);
