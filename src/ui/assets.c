#include "ui/assets.h"

#include <string.h>

#define ASSET(symbol, path, type) extern const uint8_t cr_asset_##symbol[], cr_asset_##symbol##_end[];
#include "ui/assets.def"
#undef ASSET

const struct cr_asset *cr_asset_find(const char *path) {
  static struct cr_asset assets[] = {
#define ASSET(symbol, path, type) {path, type, cr_asset_##symbol, 0},
#include "ui/assets.def"
#undef ASSET
  };
  static const uint8_t *const ends[] = {
#define ASSET(symbol, path, type) cr_asset_##symbol##_end,
#include "ui/assets.def"
#undef ASSET
  };
  for (size_t i = 0; i < sizeof assets / sizeof *assets; i++) {
    if (strcmp(assets[i].path, path) != 0) continue;
    assets[i].length = (size_t)(ends[i] - assets[i].bytes);
    return &assets[i];
  }
  return NULL;
}
