// The private directory of a runtime (contract 8, decisions 5): a tmpfs that the zygote makes and that lives in its
// descriptor, or a directory on disk.
#pragma once
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

// `fd`: a directory that has `work` in it, -1 for none. `uid`: whom it is made for (inside the namespace). `path`: on
// disk only, owned.
struct cr_scratch {
  int fd;
  uint32_t uid;
  char *path;
};

#define CR_NO_SCRATCH ((struct cr_scratch){.fd = -1})

// A directory of mode 0700 with an unpredictable name under `root` (made when missing), owned by the host's user
// `owner`.
int cr_scratch_on_disk(const char *root, uint32_t uid, uint32_t owner, struct cr_scratch *scratch,
                       struct cr_error *err);

// Whether what is below `work` is over `bytes` or `entries` (links are not followed). Takes as long as it takes: call
// it from libuv's thread pool, with a descriptor of its own.
int cr_scratch_over(int root, uint64_t bytes, uint64_t entries);

// Closes it; on disk, deletes it with everything in it, in libuv's thread pool.
void cr_scratch_release(struct cr_scratch *scratch, uv_loop_t *loop);
