// How each language's zygote is started. A further language is a further entry here.
#pragma once
#include "host/zygote.h"
#include "worker/worker.h"

// `init` must outlive the result; `.arguments` is the caller's (cr_engine_arguments_free).
struct cr_zygote_settings cr_engine_settings(enum cr_lang lang, const struct cr_worker_settings *settings,
                                             const char *init);
void cr_engine_arguments_free(char **arguments);
