// Starts a zygote in namespaces of its own (namespaces(7), user_namespaces(7)).
#pragma once
#include <stdint.h>

#include "base/err.h"

struct cr_launch {
  const char *init;          // path of cr-init
  char *const *arguments;    // the zygote's argument vector, its path first; NULL at the end
  char *const *environment;  // NULL at the end
  uint64_t stack_bytes;      // RLIMIT_STACK of the zygote
};

// `control` and `init` (a pidfd) are the caller's to close. `layers`: the namespaces that the host gave (enum
// cr_layer). `uids`: how many user ids, 1 to `uids`, a runtime may be given; 0 when there is only the worker's own.
// `uid_base`: the host's id of user id 0 + n is uid_base + n.
struct cr_launched {
  int control;
  int init;
  uint32_t layers;
  uint32_t uids;
  uint32_t uid_base;
};

// Returns 0, or -1 with `err` (CR_ENGINE) naming what the host refused.
int cr_launch(const struct cr_launch *launch, struct cr_launched *launched, struct cr_error *err);
