// A configuration entry as a YAML file (spec 7.4): a mapping of id, name, description, value and metadata.
#pragma once
#include <yyjson.h>

#include "base/buf.h"
#include "base/err.h"

struct config_parts {
  const char *id, *name, *description;
  yyjson_val *value;     // numbers as raw texts
  yyjson_val *metadata;  // or NULL
};

// Appends the file's text. -1 and `err` when it would not be read back (nested too deep, too large).
int cr_config_file_write(const struct config_parts *parts, struct cr_buf *out, struct cr_error *err);
// A document {id, name, description, value, metadata?}, or NULL and `err`. Missing texts are "", a missing value is
// null.
yyjson_doc *cr_config_file_read(const char *text, size_t length, struct cr_error *err);
