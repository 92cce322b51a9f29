// Files that are always whole: written beside, synced, renamed over, and the directory synced.
#pragma once
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

// `<path>.tmp` is used on the way. -1 and `err` (CR_ENGINE) when any step fails; the old file is then still there.
int cr_store_write(const char *path, const void *bytes, size_t length, struct cr_error *err);
// Appends the whole file. 0; 1: there is none; -1 and `err`.
int cr_store_read(const char *path, struct cr_buf *out, struct cr_error *err);
