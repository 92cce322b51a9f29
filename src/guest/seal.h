// Sealing a runtime: what a fork gives up before it reads its first frame. docs/security.md.
#pragma once
#include <stdint.h>

enum cr_policy {
  CR_POLICY_NODE,    // files in /work, threads of its own (libuv's pool), timers
  CR_POLICY_PYTHON,  // the calls that our WASI makes
};

// Made once in the zygote, so that a fork only installs it.
struct cr_seal;

// Compiles the filter and prepares the Landlock rules. NULL with a line on stderr when this kernel has no seccomp.
struct cr_seal *cr_seal_prepare(enum cr_policy policy);

// Bits of enum cr_layer (guest/control.h) that a seal adds on this kernel.
uint32_t cr_seal_layers(const struct cr_seal *seal);

// In the fork, after its root was changed and with /work as the current directory, in this order: resource limits, user
// id, capabilities, no_new_privs, Landlock (files outside /work can only be read), seccomp. `data_limit`: RLIMIT_DATA
// in bytes (getrlimit(2)); `uid` 0 keeps the id; `die_with_zygote`: where no pid namespace ends the fork with the
// worker. Ends the process with status 125 and a line on stderr when a part that must hold does not.
void cr_seal_apply(const struct cr_seal *seal, uint64_t data_limit, uint32_t uid, int die_with_zygote);
