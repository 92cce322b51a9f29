// JSON on top of yyjson: numbers pass through exactly, texts of others are untrusted.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"

// Parses a whole text (RFC 8259). Numbers that are not exact in 64 bits stay raw text. NULL and `err`
// (CR_INVALID_REQUEST, "not JSON: …") otherwise; free with yyjson_doc_free. `err` may be NULL.
yyjson_doc *cr_json_parse(const char *text, size_t length, struct cr_error *err);

// Whether the text is one JSON value, with no number ever converted; `depth` gets its nesting.
int cr_json_valid(const char *text, size_t length, size_t *depth);

// How deep arrays and objects nest in a text that is JSON.
size_t cr_json_depth(const char *text, size_t length);

// "a string", "an array", … for messages.
const char *cr_json_kind(yyjson_val *value);

// Compact text of a value or document, owned by the caller; numbers as they came.
char *cr_json_text(yyjson_val *value, size_t *length);
char *cr_json_mut_text(yyjson_mut_doc *doc, size_t *length);
