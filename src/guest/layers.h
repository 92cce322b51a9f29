// Which sandbox layers cr-init got from the host; it tells the zygote in the environment.
#pragma once
#include <stdint.h>

#define CR_LAYERS_VARIABLE "CODE_RUNNER_LAYERS"

// Bits of enum cr_layer. The variable is taken out of the environment.
uint32_t cr_layers_taken(void);
