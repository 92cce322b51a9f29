// Which hidden runtime serves a namespace in which language (contract 13).
#pragma once
#include "base/err.h"
#include "worker/worker.h"

struct cr_runtime;

// `name` is canonical. NULL when there is none.
struct cr_runtime *cr_namespace_find(struct cr_worker *worker, const char *name, enum cr_lang lang);
// Finds or starts it. NULL and the error of cr_runtime_create.
struct cr_runtime *cr_namespace_open(struct cr_worker *worker, const char *name, enum cr_lang lang,
                                     struct cr_error *err);
// The runtime ends.
void cr_namespace_forget(struct cr_runtime *runtime);
