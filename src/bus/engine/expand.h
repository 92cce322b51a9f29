// ${NAME} and ${NAME:default} in the strings of a configuration value (spec 7.3), against this process's environment.
#pragma once
#include <yyjson.h>

#include "base/buf.h"

// A copy of `value` in `doc` with everything replaced that can be; what cannot be stays literal. Names of variables
// that are unset and have no default are appended to `unset` as "A, B", each once.
yyjson_mut_val *cr_expand(yyjson_mut_doc *doc, yyjson_val *value, struct cr_buf *unset);
