// The stand-in console: a page for a person, on loopback only, below a path that nobody can guess (docs/console-ui.md).
// It serves the embedded files and passes WebSockets on to the embedded engine.
#pragma once
#include <uv.h>

#include "base/err.h"

struct cr_console;

// Listens on 127.0.0.1:`port` (0: any) on return. `engine_port` is the embedded engine's. NULL and `err` otherwise.
struct cr_console *cr_console_start(uv_loop_t *loop, int port, int engine_port, struct cr_error *err);
// "http://127.0.0.1:PORT/TOKEN/"; owned by the console.
const char *cr_console_url(const struct cr_console *console);
void cr_console_stop(struct cr_console *console);
