// What the parts of the worker share.
#pragma once
#include <uthash.h>

#include "base/list.h"
#include "host/zygote.h"
#include "worker/tombstones.h"
#include "worker/worker.h"

struct cr_bus;
struct cr_namespace;
struct cr_published;
struct cr_runtime;
struct cr_ui;

struct cr_worker {
  uv_loop_t *loop;
  struct cr_config config;
  struct cr_zygote *zygotes[CR_LANGS];
  char **arguments[CR_LANGS];
  char *init;
  cr_worker_ready *ready;
  void *ready_of;
  int ready_said;
  cr_worker_listener *listener;
  void *listener_of;
  struct cr_runtime *runtimes;  // addressable by id, hashed
  struct cr_list all;           // every runtime, one-shots too
  uint64_t slots_used;
  struct cr_published *published;   // by id
  struct cr_namespace *namespaces;  // by name
  struct cr_bus *bus;               // NULL: none
  struct cr_ui *ui;                 // the console's assets, once on a bus
  int reloading;                    // settings are being read
  int reload_again;
  struct cr_tombstones tombstones;
  uv_timer_t sweep;
  uv_timer_t watch;
  unsigned watches;
  int holds;  // handles that are open, and work in the thread pool
};

// The worker's memory stays while somebody holds it.
void cr_worker_hold(struct cr_worker *worker);
void cr_worker_unhold(struct cr_worker *worker);
