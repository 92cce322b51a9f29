// What guests ask of the worker through `iii` (contract 7, 10): docs/protocol.md, CALL.
#pragma once
#include "guest/frame.h"

struct cr_runtime;

// A CALL of the runtime. -1 when it is malformed.
int cr_calls_take(struct cr_runtime *runtime, const struct cr_frame *frame);
// The process is gone: nothing is to be answered any more.
void cr_calls_drop(struct cr_runtime *runtime);
