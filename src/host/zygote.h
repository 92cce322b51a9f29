// The worker's side of one zygote: starts it, keeps it alive, has it fork (docs/protocol.md, docs/host.md).
#pragma once
#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/list.h"
#include "guest/control.h"
#include "host/scratch.h"

struct cr_instance;
struct cr_zygote;

struct cr_zygote_settings {
  const char *name;      // of the language, for the log
  const char *init;      // path of cr-init
  char **arguments;      // the zygote's argument vector
  uint64_t stack_bytes;  // RLIMIT_STACK
  uint64_t data_bytes;   // memory budget of a runtime that asks for none
  uint64_t tmpfs_bytes;  // scratch quota
  uint64_t tmpfs_inodes;
  const char *scratch_root;  // NULL: tmpfs; else the directory on disk under which scratch directories are made
  unsigned spares;           // runtimes forked ahead
};

enum cr_zygote_state { CR_ZYGOTE_BOOTING, CR_ZYGOTE_READY, CR_ZYGOTE_BROKEN };

// Called when the state changes; BROKEN after three starts in a row without READY.
typedef void cr_zygote_watch(void *of, struct cr_zygote *zygote);

// `settings` is copied, what it points to must outlive the zygote. Never fails: a start that does not work shows as
// BROKEN.
struct cr_zygote *cr_zygote_create(uv_loop_t *loop, const struct cr_zygote_settings *settings, cr_zygote_watch *watch,
                                   void *of);

enum cr_zygote_state cr_zygote_state(const struct cr_zygote *zygote);
const char *cr_zygote_version(const struct cr_zygote *zygote);  // what READY said; "" before
const char *cr_zygote_failure(const struct cr_zygote *zygote);  // why it is BROKEN; "" otherwise
uint32_t cr_zygote_layers(const struct cr_zygote *zygote);
double cr_zygote_boot_ms(const struct cr_zygote *zygote);
const struct cr_zygote_settings *cr_zygote_settings(const struct cr_zygote *zygote);

// A runtime with the default budget and a fresh scratch directory: a spare if there is one, and another is forked in
// its place. The caller owns it (cr_instance_free).
struct cr_instance *cr_zygote_take(struct cr_zygote *zygote);
// One with another budget (0: the default), or on an existing scratch directory (which passes over; NULL: a fresh one).
struct cr_instance *cr_zygote_fork(struct cr_zygote *zygote, uint64_t data_bytes, struct cr_scratch *scratch);

// Kills everything of it and frees it once its handles are closed. No callback comes any more.
void cr_zygote_free(struct cr_zygote *zygote);
