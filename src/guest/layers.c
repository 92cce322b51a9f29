#include "guest/layers.h"

#include <stdlib.h>

uint32_t cr_layers_taken(void) {
  const char *text = getenv(CR_LAYERS_VARIABLE);
  uint32_t layers = text ? (uint32_t)strtoul(text, NULL, 10) : 0;
  unsetenv(CR_LAYERS_VARIABLE);
  return layers;
}
