// One sealed fork as the worker sees it: its stream of frames, its captured output, its end. What it sends is hostile.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "guest/frame.h"
#include "host/scratch.h"

struct cr_instance;

// How it ended: `status` is that of waitpid(2) when `known`. `parked`: it had been sealed and ready. `expelled`: the
// worker ended it, because it broke the protocol or closed its stream.
struct cr_end {
  int known;
  int status;
  int parked;
  int expelled;
};

// `live`: it has been forked and sealed, and gets what it is sent (called by cr_instance_bind if that is so already).
// All others are called from the event loop, never from inside a cr_instance_ function. `output`: `stream` is 1 or 2.
// Output written before a frame is delivered before it. After `ended` nothing more comes; cr_instance_free is still
// due.
struct cr_instance_events {
  void (*live)(void *of);
  void (*frame)(void *of, const struct cr_frame *frame);
  void (*output)(void *of, int stream, const uint8_t *bytes, size_t length);
  void (*ended)(void *of, const struct cr_end *end);
};

// Who gets the events from now on. Until then output is kept in the pipes.
void cr_instance_bind(struct cr_instance *instance, const struct cr_instance_events *events, void *of);

// Starts a frame in the outgoing buffer; after cr_frame_end, cr_instance_flush sends it as far as the runtime reads.
struct cr_buf *cr_instance_outgoing(struct cr_instance *instance);
void cr_instance_flush(struct cr_instance *instance);

// Delivers what is in the pipes now, up to what was in them when it was called.
void cr_instance_drain(struct cr_instance *instance);

// The scratch directory passes to the caller (.fd is -1 when there is none yet).
struct cr_scratch cr_instance_take_scratch(struct cr_instance *instance);

// The same, looked at; valid until the instance is freed or it is taken.
const struct cr_scratch *cr_instance_scratch(const struct cr_instance *instance);

// SIGKILL, at once; everything it held goes with it. No event comes any more.
void cr_instance_free(struct cr_instance *instance);
