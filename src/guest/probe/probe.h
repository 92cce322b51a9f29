// A zygote whose guests are C: each run names one attempt, which is made in a sealed runtime (docs/testing.md).
#pragma once
#include "guest/zygote.h"

// What an attempt has to say; the answer of the run is {"returned", "errno", "text"}.
struct probe_report {
  long returned;
  int error;  // errno
  char text[512];
};

// `stream`: the runtime's socket to the worker.
typedef void probe_attempt(int stream, struct probe_report *report);

struct probe_entry {
  const char *name;
  probe_attempt *attempt;
};

extern const struct probe_entry probe_calls[];   // system calls that must be refused
extern const struct probe_entry probe_files[];   // ways out of the private directory and over its quota
extern const struct probe_entry probe_memory[];  // memory, threads, limits
extern const struct probe_entry probe_frames[];  // what the worker must bear on the stream

// A line of text for the report, cut to fit.
void probe_say(struct probe_report *report, const char *format, ...) __attribute__((format(printf, 2, 3)));
