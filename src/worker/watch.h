// Two things that nobody's deadline covers: code that a run left behind in a node runtime and that spins
// (contract 6.5), and files on a disk whose quota the kernel does not keep (contract 9.8, where scratch_root is set).
#pragma once
#include <stdint.h>

struct cr_runtime;

// Once a second from the worker. Either may expire the runtime, or end its process.
void cr_watch_background(struct cr_runtime *runtime, uint64_t now);
// Several times a second while a turn runs.
void cr_watch_disk(struct cr_runtime *runtime);
// The runtime has answered a PING.
void cr_watch_pong(struct cr_runtime *runtime);
