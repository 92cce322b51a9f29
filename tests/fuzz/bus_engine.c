// Messages to the embedded engine: each line of the input goes to one of four peers (its first byte says which),
// without sockets. '!' as the second byte ends that peer's connection and makes a new one.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/log.h"
#include "bus/engine/internal.h"

#define PEERS 4

struct slot {
  struct peer *peer;
  int ending;  // the engine wants it gone; the transport says so after the message
};

static int on_send(void *of, const void *text, size_t length) {
  (void)of;
  struct cr_msg msg;
  const char *why;
  // What the engine says is a message that the other end understands.
  if (cr_msg_decode(&msg, text, length, &why)) abort();
  cr_msg_free(&msg);
  return 0;
}

static int on_choked(void *of) {
  (void)of;
  return 0;
}

static void on_nothing(void *of) { (void)of; }

static void on_end(void *of, int abruptly) {
  (void)abruptly;
  ((struct slot *)of)->ending = 1;
}

static const struct peer_io io = {on_send, on_choked, on_nothing, on_nothing, on_end};

static void reap(struct cr_engine *engine, struct slot *slots, int all) {
  for (int i = 0; i < PEERS; i++) {
    if (!slots[i].peer || (!slots[i].ending && !all)) continue;
    cr_peer_gone(slots[i].peer);
    slots[i] = (struct slot){0};
    if (!all) slots[i].peer = cr_peer_create(engine, &io, &slots[i], "fuzz");
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uv_loop_t loop;
  setenv("CODE_RUNNER_LOG", "error", 1);
  cr_log_init();
  uv_loop_init(&loop);
  struct cr_engine_options options = {.config_dir = "/dev/null/none", .grace_ms = 1};
  struct cr_engine *engine = cr_engine_create(&loop, &options, NULL);
  struct slot slots[PEERS] = {0};
  for (int i = 0; i < PEERS; i++) slots[i].peer = cr_peer_create(engine, &io, &slots[i], "fuzz");
  for (const uint8_t *at = data, *end = data + size; at < end;) {
    const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
    size_t length = (size_t)((stop ? stop : end) - at);
    struct slot *slot = &slots[length ? *at % PEERS : 0];
    if (length > 1 && at[1] == '!')
      slot->ending = 1;
    else if (length)
      cr_peer_take(slot->peer, (const char *)at + 1, length - 1);
    reap(engine, slots, 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    at += length + 1;
  }
  engine->stopping = 1;
  reap(engine, slots, 1);
  cr_engine_free(engine);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop)) abort();
  return 0;
}
