// Packets of the control socket between the worker and a zygote: docs/protocol.md.
#pragma once
#include <stdint.h>

enum cr_control_kind {
  CR_CONTROL_READY = 1,
  CR_CONTROL_SPAWN,
  CR_CONTROL_SPAWNED,
  CR_CONTROL_FAILED,
  CR_CONTROL_REAPED,
};

// Flag of SPAWN: a scratch directory is attached as the fourth descriptor.
#define CR_SPAWN_SCRATCH 1u
#define CR_CONTROL_DESCRIPTORS 4

// Sandbox layers (READY.layers): those that are active. seccomp and rlimits always are.
enum cr_layer {
  CR_LAYER_USER_NS = 1u << 0,
  CR_LAYER_PID_NS = 1u << 1,
  CR_LAYER_MOUNT_NS = 1u << 2,
  CR_LAYER_NET_NS = 1u << 3,
  CR_LAYER_IPC_NS = 1u << 4,
  CR_LAYER_UTS_NS = 1u << 5,
  CR_LAYER_EMPTY_ROOT = 1u << 6,
  CR_LAYER_TMPFS = 1u << 7,
  CR_LAYER_LANDLOCK = 1u << 8,
};

struct cr_control {
  uint32_t kind;
  uint32_t seq;
  uint32_t flags;
  uint32_t uid;
  int32_t pid;
  int32_t status;
  uint32_t layers;
  uint32_t reserved;
  uint64_t data_bytes;
  uint64_t tmpfs_bytes;
  uint64_t tmpfs_inodes;
  char text[128];  // NUL-terminated
};

// One packet each way, with up to CR_CONTROL_DESCRIPTORS descriptors (close-on-exec where received). Send returns 0 or
// -1 (errno). Receive returns 1 for a packet, 0 at the end of the stream, -1 (errno) otherwise, EBADMSG for a packet of
// another size; `*count` descriptors are then the caller's to close. unix(7), cmsg(3).
int cr_control_send(int socket, const struct cr_control *packet, const int *descriptors, int count);
int cr_control_receive(int socket, struct cr_control *packet, int *descriptors, int *count, int flags);
