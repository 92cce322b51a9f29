// A runtime as callers know it: an id, a language, a private directory, and turns that execute in it (contract 4, 12).
// Behind it is one sealed process; a python runtime can lose that and get a fresh one on the same files.
#pragma once
#include <stdint.h>
#include <uthash.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "guest/frame.h"
#include "host/instance.h"
#include "worker/capture.h"
#include "worker/tombstones.h"
#include "worker/worker.h"

enum cr_life { CR_ONE_SHOT, CR_KEPT, CR_NAMESPACE };

struct cr_runtime {
  char id[CR_RUNTIME_ID_SIZE];
  UT_hash_handle hh;
  struct cr_list link;  // in worker->all
  struct cr_worker *worker;
  enum cr_lang lang;
  enum cr_life life;
  struct cr_instance *instance;  // NULL between two of a python runtime
  struct cr_scratch scratch;     // while there is no instance
  uint64_t memory_mb;            // python; 0: the default
  int live;                      // the instance has been forked
  struct cr_list turns;          // running and waiting, in order of arrival
  uint32_t next_turn;
  uint64_t last_activity;         // uv_now
  int named;                      // in the table of ids
  size_t background;              // bytes of output logged since the last run
  struct cr_capture *last_words;  // the end of stderr between runs, which may say of what it died; NULL: nothing yet
  struct cr_list published;       // functions on the bus (worker/published.h)
  struct cr_bindings *bindings;   // triggers and trigger types of a node guest (worker/bindings.h), or NULL
  struct cr_list calls;           // bus calls of the guest in flight (worker/calls.c)
  char *prefix;                   // what the guest may register under, or ""
  int looked_at;                  // its files on disk are being measured
  uint64_t pinged_at;             // uv_now of a PING without an answer, or 0
  void (*gone)(void *of, char **unregistered);  // being torn down
  void *gone_of;
};

// How a turn ended. With `error.code` set: an error for the caller, and the rest is empty. Bytes are valid during the
// callback only.
struct cr_outcome {
  struct cr_error error;
  int exit_code;
  enum cr_result_kind kind;
  const uint8_t *value;
  uint32_t value_length;
  const uint8_t *failure;
  uint32_t failure_length;
  const uint8_t *note;
  uint32_t note_length;
  uint8_t flags;
  int runtime_gone;  // the runtime has ended by itself
};

// `finished` is called once. The turn is then freed; `streams` are the caller's.
struct cr_turn {
  struct cr_list link;
  struct cr_runtime *runtime;
  enum cr_frame_type kind;
  uint32_t id;
  int running;
  uint64_t budget_ms;
  struct cr_buf frame;  // without its id, which the runtime sets
  struct cr_capture *streams[2];
  uv_timer_t deadline;
  void (*finished)(void *of, struct cr_outcome *outcome);
  void *of;
};

// The hot settings have changed.
void cr_runtime_send_settings(struct cr_runtime *runtime);

// Text for callers of a runtime that is over its files' budget.
char *cr_runtime_disk_text(const struct cr_runtime *runtime);
// The process is ended for it: what runs is answered CR_RESOURCE_EXHAUSTED.
void cr_runtime_over_disk(struct cr_runtime *runtime);

// Takes a slot. NULL and CR_CAPACITY when there is none, CR_ENGINE when the language is not to be had.
// `name`: the canonical namespace of a CR_NAMESPACE runtime, else NULL.
struct cr_runtime *cr_runtime_create(struct cr_worker *worker, enum cr_lang lang, enum cr_life life, const char *name,
                                     uint64_t memory_mb, struct cr_error *err);
// By id; `err` is CR_RUNTIME_NOT_FOUND or CR_EXPIRED. Ids of one-shots are never found.
struct cr_runtime *cr_runtime_find(struct cr_worker *worker, const char *id, struct cr_error *err);

// A turn to fill (`frame`, `streams`, `finished`, `of`) and submit.
struct cr_turn *cr_turn_create(struct cr_runtime *runtime, enum cr_frame_type kind, uint64_t budget_ms);
void cr_runtime_submit(struct cr_turn *turn);
// Before everything that waits.
void cr_runtime_submit_first(struct cr_turn *turn);
// Instead of submitting it: it is answered so.
void cr_turn_refuse(struct cr_turn *turn, const char *code, const char *text);
// A DEFINE turn with the default budget, its frame filled.
struct cr_turn *cr_turn_define(struct cr_runtime *runtime, const char *id, const char *source, size_t length);
int cr_runtime_busy(const struct cr_runtime *runtime);

// Teardown: from now on the id is not found, and what waits is answered so; `gone` is called when the turns that run
// have ended and everything of the runtime is gone, with the ids that were published, sorted (valid during the call).
void cr_runtime_retire(struct cr_runtime *runtime, void (*gone)(void *of, char **unregistered), void *of);
// Kills it and frees it with its files and its slot. Turns that are left are answered with `code` and `text`.
void cr_runtime_destroy(struct cr_runtime *runtime, const char *code, const char *text);
// As cr_runtime_destroy, and the id is remembered as expired.
void cr_runtime_expire(struct cr_runtime *runtime);
