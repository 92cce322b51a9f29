// Runtime ids are secrets (contract 3.5): an error shows one only to the caller who sent it.
#pragma once
#include <stddef.h>

// Overwrites, in place, every runtime id in `text` but `known` (may be NULL) by "rt-" and asterisks.
void cr_mask_ids(char *text, const char *known);
