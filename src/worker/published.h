// Functions that guests publish: one registry of ids for the whole worker (contract 13.3), and the calls of them
// (13.6).
#pragma once
#include <stdint.h>
#include <uthash.h>

#include "base/list.h"
#include "worker/metadata.h"
#include "worker/worker.h"

struct cr_runtime;

// A claimed id. It is live while it is on the bus; not live while its first source is being evaluated.
struct cr_published {
  char *id;
  UT_hash_handle hh;
  struct cr_list link;  // in runtime->published, in order of registration
  struct cr_worker *worker;
  struct cr_runtime *runtime;
  struct cr_metadata metadata;
  char *source;  // python: evaluated again when the interpreter was lost
  char *broken;  // the source failed then: what calls are answered
  int live;
  unsigned pending;  // registrations under way
};

// NULL when nobody has it.
struct cr_published *cr_published_find(struct cr_worker *worker, const char *id);
// Takes an id for `runtime` (which may hold it already). NULL and CR_INVALID_REQUEST "already taken".
struct cr_published *cr_published_claim(struct cr_worker *worker, struct cr_runtime *runtime, const char *id,
                                        struct cr_error *err);
// On the bus with this metadata (which passes over); what was there before is retired.
int cr_published_announce(struct cr_published *function, struct cr_metadata *metadata, struct cr_error *err);
// Off the bus, and the id is free. The function is gone afterwards.
void cr_published_withdraw(struct cr_published *function);
// One registration less under way: an id that is not live and has none is free again.
void cr_published_settle(struct cr_published *function);

unsigned cr_published_count(const struct cr_runtime *runtime);
// Ids of the live functions, sorted; NULL at the end. Owned: cr_published_ids_free.
char **cr_published_ids(const struct cr_runtime *runtime);
void cr_published_ids_free(char **ids);
// The runtime ends: all of its functions go.
void cr_published_drop(struct cr_runtime *runtime);

// Calls a live function.
void cr_published_call(struct cr_published *function, const char *payload, size_t length, cr_reply *reply, void *of);
// Python, after its interpreter was lost: puts the evaluation of every live source before what waits.
void cr_published_replay(struct cr_runtime *runtime);
