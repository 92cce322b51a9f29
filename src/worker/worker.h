// The worker: its functions, its runtimes, its settings (contract 1 to 15). One thread, one event loop, no bus of its
// own: whoever drives it passes calls in and gets one reply for each.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "worker/config.h"

struct cr_worker;

enum cr_lang { CR_NODE, CR_PYTHON };
#define CR_LANGS 2

struct cr_worker_settings {
  struct cr_config config;  // passes over
  const char *libexec;      // directory of cr-init, the engines and the harness
  int langs[CR_LANGS];      // which zygotes to start
  unsigned spares;
  int require_layers;  // 1: a sandbox layer that the host refuses is an error
};

// Result as JSON text of `length` bytes, or `err` (result NULL). Both are valid during the call only.
typedef void cr_reply(void *of, const char *result, size_t length, const struct cr_error *err);
// What a run prints, as it is written; NULL for nobody. `stream`: 1 or 2.
typedef void cr_worker_listener(void *of, int stream, const uint8_t *bytes, size_t length);
// Every zygote is parked or known to be broken.
typedef void cr_worker_ready(void *of, struct cr_worker *worker);

struct cr_worker *cr_worker_create(uv_loop_t *loop, const struct cr_worker_settings *settings, cr_worker_ready *ready,
                                   void *of);
// Kills every runtime and zygote; calls in flight are answered with CR_ENGINE first. Memory goes once the loop has
// closed its handles.
void cr_worker_free(struct cr_worker *worker);

// Calls a function of the worker by its id. Exactly one reply, maybe before the call returns.
void cr_worker_call(struct cr_worker *worker, const char *function_id, const char *payload, size_t length,
                    cr_reply *reply, void *of);
void cr_worker_listen(struct cr_worker *worker, cr_worker_listener *listener, void *of);

struct cr_zygote *cr_worker_zygote(struct cr_worker *worker, enum cr_lang lang);
// Whether it is an id of the worker's own functions.
int cr_worker_owns(const char *function_id);
const char *cr_lang_name(enum cr_lang lang);
