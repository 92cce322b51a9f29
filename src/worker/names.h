// Namespaces of published functions: the text before the first `::` (contract 13.1).
#pragma once
#include <stddef.h>

#include "base/err.h"

#define CR_NAME_MAX 64u

// Namespace of a function id, canonical ("app::"), owned by the caller. NULL and CR_INVALID_REQUEST with the reason.
char *cr_name_of_function(const char *function_id, struct cr_error *err);
// "app", "app:", "app::" … to "app::".
char *cr_name_canonical(const char *name, size_t length, struct cr_error *err);
