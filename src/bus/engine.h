// The embedded engine: a local iii bus that unmodified iii-sdk clients connect to (spec 1 to 8). One thread, one loop;
// all of it is in memory but for the configuration files and, if asked for, the state file.
#pragma once
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

#define CR_ENGINE_PORT 49134
#define CR_ENGINE_GRACE_MS 5000

struct cr_engine;

struct cr_engine_options {
  const char *host;        // numeric address; NULL: 127.0.0.1
  int port;                // 0: any
  const char *config_dir;  // of configuration files; NULL: ./config. Made when first needed.
  const char *state_file;  // NULL: state lives in memory only
  int remote;              // allows an address that is not loopback: everybody who reaches it may call everything
  int any_origin;          // allows browsers' pages of any origin, not only those served from this machine
  uint32_t grace_ms;       // how long registrations wait for the metadata call (spec 3.3); 0: CR_ENGINE_GRACE_MS
};

// Listens on return. NULL and `err` (CR_ENGINE) when the address is refused or taken, or a file cannot be read.
struct cr_engine *cr_engine_start(uv_loop_t *loop, const struct cr_engine_options *options, struct cr_error *err);
// Closes every connection and writes the state; `stopped` (may be NULL) is called last, from the loop.
void cr_engine_stop(struct cr_engine *engine, void (*stopped)(void *of), void *of);

int cr_engine_port(const struct cr_engine *engine);
// "ws://127.0.0.1:49134"; owned by the engine.
const char *cr_engine_url(const struct cr_engine *engine);
