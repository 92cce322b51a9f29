// The response object of `run` (contract 2.2, 5).
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "worker/capture.h"
#include "worker/runtime.h"

struct cr_response {
  const char *runtime_id;  // NULL: none
  const struct cr_capture *streams[2];
  int exit_code;
  uint64_t duration_ms;
  uint64_t max_result_bytes;
  const struct cr_outcome *outcome;
};

// Compact JSON, owned by the caller.
char *cr_response_text(const struct cr_response *response, size_t *length);
