// The worker on the bus: its own functions with descriptions and schemas (contract 1, 2.6), and answers to callers.
#pragma once
#include "base/err.h"
#include "worker/worker.h"

// Nesting that an engine accepts in one message is 128; the envelope takes some.
#define CR_BUS_DEPTH_MAX 120

struct cr_bus;

// From now on the worker's functions are on the bus, those of guests follow as they are published. Once per worker.
void cr_worker_attach(struct cr_worker *worker, struct cr_bus *bus);

// Reads the settings again and applies what can be; one at a time.
void cr_worker_reload(struct cr_worker *worker);
// Tells the runtimes what has changed.
void cr_worker_settings_changed(struct cr_worker *worker);

// cr_reply whose `of` is the bus invocation to answer. Errors go out as "code: text" under the bus's own code.
void cr_link_reply(void *of, const char *result, size_t length, const struct cr_error *err);
