// The worker without a bus: one JSON request a line in, one answer a line out (`code-runner serve --stdio`).
//   {"id": any, "function_id": string, "payload": any}  ->  {"id", "result"} or {"id", "error": {"code", "message"}}
// Answers come in the order in which the calls end. The end of the input ends the program once all is answered.
#pragma once
#include <uv.h>

#include "worker/worker.h"

struct cr_stdio;

// `done` is called when the input has ended and everything is answered and written.
struct cr_stdio *cr_stdio_start(uv_loop_t *loop, struct cr_worker *worker, void (*done)(void *of), void *of);
void cr_stdio_free(struct cr_stdio *stdio);
