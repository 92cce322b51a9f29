// The guest side of the zygote protocol (docs/protocol.md): a warm engine that forks sealed runtimes.
#pragma once
#include <stdint.h>

#include "guest/frame.h"
#include "guest/seal.h"

#define CR_ZYGOTE_CONTROL 3

struct cr_zygote_options {
  const char *version;        // of the engine, for READY
  enum cr_policy policy;      // which system calls a runtime may make
  int keep_scratch;           // 1: the runtime keeps a descriptor of its scratch directory (cr_runtime.scratch)
  void (*in_fork)(void *of);  // called in every fork before it is sealed (e.g. uv_loop_fork); may be NULL
  void *of;
};

// What a fork holds. Descriptors 0, 1, 2 are /dev/null and the captured streams.
struct cr_runtime {
  int stream;           // frames; blocking
  int scratch;          // O_PATH-like directory descriptor of /work, or -1
  uint64_t data_bytes;  // memory budget of this runtime on top of what the zygote had
};

// Runs in the zygote, after the engine is warm. Empties the root, says READY, then forks on request. Returns 0 in each
// fork, sealed; the root directory is then the parent of the private directory and the current directory is /work. In
// the zygote it does not return: it exits when the control socket closes.
int cr_zygote_serve(const struct cr_zygote_options *options, struct cr_runtime *runtime);

// Blocking helpers for runtimes: write all bytes; read one whole frame into `buf` (which is emptied of the frame read
// before). Return 0, or -1 at the end of the stream or on an error; the caller then leaves by _exit.
int cr_stream_write(int stream, const void *bytes, size_t length);
int cr_stream_read(int stream, struct cr_buf *buf, struct cr_frame *frame);
