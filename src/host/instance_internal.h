// What zygote.c and instance.c share.
#pragma once
#include <uv.h>

#include "base/list.h"
#include "host/instance.h"
#include "host/zygote.h"

enum instance_state {
  INSTANCE_REQUESTED,  // the zygote has not answered yet
  INSTANCE_FORKED,     // not sealed yet
  INSTANCE_LIVE,
  INSTANCE_DYING,  // its stream has ended; waiting for what REAPED says
  INSTANCE_ENDED,
};

struct cr_instance {
  struct cr_list link;  // in zygote->instances
  struct cr_zygote *zygote;
  enum instance_state state;
  uint32_t seq;
  int32_t pid;
  int pidfd;
  struct cr_scratch scratch;
  int given[3];  // the runtime's ends, until the zygote has answered
  int stream;
  int pipes[2];
  uint64_t data_bytes;
  int spare;
  int unheard;  // it printed before there were events
  int watched;  // events of stream_poll
  int parked;
  int expelled;
  const struct cr_instance_events *events;
  void *of;
  struct cr_buf in;
  struct cr_buf out;
  uv_poll_t stream_poll;
  uv_poll_t pipe_polls[2];
  uv_timer_t patience;
  int handles;  // open libuv handles; freed with the last
  int freed;
  int busy;  // inside a callback: freeing waits
};

struct cr_instance *instance_create(struct cr_zygote *zygote, uint64_t data_bytes, struct cr_scratch *scratch);
// Asks the zygote (again); a failure is delivered as `ended` from the loop.
void instance_request(struct cr_instance *instance);
void instance_spawned(struct cr_instance *instance, int32_t pid, int pidfd, int scratch);
void instance_refused(struct cr_instance *instance);
void instance_reaped(struct cr_instance *instance, int status);
void instance_zygote_lost(struct cr_instance *instance);
// Sends the SPAWN packet; 0 or -1 when there is no zygote to send it to.
int zygote_send_spawn(struct cr_zygote *zygote, struct cr_instance *instance);
void zygote_forget(struct cr_zygote *zygote, struct cr_instance *instance);
