// The console's files, embedded in the program (contract 16.2, docs/console-ui.md).
#pragma once
#include <stddef.h>
#include <stdint.h>

struct cr_asset {
  const char *path;  // below ui/dist
  const char *type;
  const uint8_t *bytes;
  size_t length;
};

// NULL when there is none.
const struct cr_asset *cr_asset_find(const char *path);
