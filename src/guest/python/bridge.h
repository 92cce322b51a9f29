// What crosses between the host's side of a python runtime and the interpreter inside (cpython/reactor.c): one page for
// both, so plain 32-bit numbers, addresses in the guest's memory.
#pragma once
#include <stdint.h>

#define CR_BRIDGE_MODULE "code_runner"

// What cr_turn answers: where it is in guest memory. It stays there until the next turn.
struct cr_bridge_span {
  uint32_t address;
  uint32_t length;
};

struct cr_bridge_answer {
  uint32_t exit_code;
  uint32_t flags;  // enum cr_done_flag
  uint32_t kind;   // enum cr_result_kind
  uint32_t shape;  // OMITTED only: enum cr_result_shape, and two numbers more
  uint64_t bytes;
  uint64_t count;
  struct cr_bridge_span value;
  struct cr_bridge_span failure;
  struct cr_bridge_span note;
};
