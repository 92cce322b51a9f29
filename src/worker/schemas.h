// What is published about the worker's own functions (contract 1, 2.6): descriptions and draft-07 schemas, as JSON
// text.
#pragma once
#include <stddef.h>

struct cr_own_function {
  const char *id;
  const char *description;
  const char *request;
  const char *response;
  int internal;  // metadata {"internal": true}
};

extern const struct cr_own_function cr_own_functions[];
extern const size_t cr_own_functions_count;
