// Which system calls a sealed runtime may make: an allow-list each, EPERM for all else (seccomp(2), docs/security.md).
#pragma once
#include <seccomp.h>

#include "guest/seal.h"

// Stands in the compiled filter for the process's own id, which only the fork knows.
#define CR_POLICY_SELF 0x7ec0de01u

// NULL when the filter cannot be built; the caller releases it.
scmp_filter_ctx cr_policy_filter(enum cr_policy policy);
