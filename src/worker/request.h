// Reading requests (contract 2.1): unknown fields are ignored, mistakes answer invalid_request naming the field.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"

// Each reads one field of an object. A missing field, or null where `nullable`, leaves `*value` as it is. Texts stay
// the document's. Strings with a zero character are refused where an id is meant (`plain`).
int cr_request_object(yyjson_val *payload, struct cr_error *err);
int cr_request_text(yyjson_val *payload, const char *name, int nullable, const char **value, size_t *length,
                    struct cr_error *err);
int cr_request_unsigned(yyjson_val *payload, const char *name, uint64_t *value, int *given, struct cr_error *err);
int cr_request_boolean(yyjson_val *payload, const char *name, int *value, struct cr_error *err);
// "node", "python" or (where `nullable`) null; `*lang` is -1 when it is not given.
int cr_request_lang(yyjson_val *payload, int nullable, int *lang, struct cr_error *err);
