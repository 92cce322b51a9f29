// Description and formats of a published function (contract 13.1, 13.2).
#pragma once
#include <yyjson.h>

#include "base/err.h"

#define CR_ID_MAX 512u
#define CR_DESCRIPTION_MAX 4096u
#define CR_FORMAT_MAX 16384u

// Owned; NULL is "none". Formats are compact JSON text.
struct cr_metadata {
  char *description;
  char *request_format;
  char *response_format;
};

// Reads the three fields of `object`; null is "not given". CR_INVALID_REQUEST names field, size and limit.
int cr_metadata_read(yyjson_val *object, struct cr_metadata *metadata, struct cr_error *err);
int cr_metadata_empty(const struct cr_metadata *metadata);
void cr_metadata_free(struct cr_metadata *metadata);

// An id of at most CR_ID_MAX bytes, without a zero character.
int cr_metadata_check_id(const char *id, size_t length, struct cr_error *err);
