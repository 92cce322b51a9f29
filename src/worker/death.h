// Why a process ended, for the caller (contract 3.2): the guest's own doing is a response, a limit an error.
#pragma once
#include "host/instance.h"
#include "worker/capture.h"
#include "worker/runtime.h"
#include "worker/worker.h"

enum cr_cause {
  CR_CAUSE_DEADLINE,
  CR_CAUSE_MEMORY,
  CR_CAUSE_DISK,
  CR_CAUSE_CRASH,    // a signal of its own doing
  CR_CAUSE_EXIT,     // it left without an answer
  CR_CAUSE_KILLED,   // from outside, or nobody knows
  CR_CAUSE_REFUSED,  // it could not be started
};

// `errors`: what it wrote to stderr last, or NULL.
enum cr_cause cr_death_cause(enum cr_lang lang, const struct cr_end *end, const struct cr_capture *errors);

// Where the engine's own dying words begin in the end of a stderr text; `length` when there are none.
size_t cr_death_words(const char *text, size_t length);

// Fills the outcome of a turn that the death ended; `text` gets what outcome->failure points to (for CR_CAUSE_DISK it
// holds the message). `status` is that of waitpid(2) where it is known, else 0.
void cr_death_outcome(enum cr_lang lang, enum cr_cause cause, int status, struct cr_outcome *outcome, char *text,
                      size_t size);
