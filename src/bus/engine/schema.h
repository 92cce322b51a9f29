// JSON Schema validation of configuration values (spec 7.3): the assertions of drafts 7 to 2020-12, local references
// only, `format` not asserted. Schemas and values are untrusted: work and nesting are bounded.
#pragma once
#include <yyjson.h>

#include "base/buf.h"

// 0: valid. Otherwise messages separated by "; " are in `errors`, the first of them "invalid JSON Schema: …" when it is
// the schema that cannot be used. Numbers may be raw texts.
int cr_schema_check(yyjson_val *schema, yyjson_val *value, struct cr_buf *errors);
