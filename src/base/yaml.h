// YAML (1.1, through libyaml) read as JSON: plain scalars are null, booleans, numbers or strings, quoted ones strings.
#pragma once
#include <stddef.h>
#include <yyjson.h>

#include "base/err.h"

// One document. NULL and `err` (CR_INVALID_REQUEST) when it is not YAML, has aliases, non-scalar keys, or nests deeper
// than 64. An empty text is null. Free with yyjson_mut_doc_free.
yyjson_mut_doc *cr_yaml_parse(const char *text, size_t length, struct cr_error *err);
