#include "worker/death.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

// What V8 and Node write before they give up for want of memory.
static const char *const memory_words[] = {"out of memory",        "invalid size error", "Allocation failed",
                                           "invalid array length", "Failed to reserve",  NULL};
// Where their reports begin.
static const char *const report_words[] = {"<--- Last few GCs --->",   "FATAL ERROR: ",          "#\n# Fatal ",
                                           "----- Native stack trace", "terminate called after", NULL};

static const char *first_of(const char *text, size_t length, const char *const *words) {
  const char *first = NULL;
  for (; length && *words; words++) {
    const char *at = memmem(text, length, *words, strlen(*words));
    if (at && (!first || at < first)) first = at;
  }
  return first;
}

size_t cr_death_words(const char *text, size_t length) {
  const char *at = first_of(text, length, report_words);
  if (!at) return length;
  while (at > text && (at[-1] == '\n' || at[-1] == '#')) at--;
  size_t kept = (size_t)(at - text);
  return kept && kept < length ? kept + 1 : kept;
}

static int speaks_of_memory(const struct cr_capture *errors) {
  cr_autobuf text = CR_BUF(CR_CAPTURE_TAIL);
  if (!errors || cr_capture_tail(errors, CR_CAPTURE_TAIL, &text) || !text.len) return 0;
  size_t start = cr_death_words((const char *)text.data, text.len);
  return first_of((const char *)text.data + start, text.len - start, memory_words) != NULL;
}

enum cr_cause cr_death_cause(enum cr_lang lang, const struct cr_end *end, const struct cr_capture *errors) {
  if (!end->parked) return CR_CAUSE_REFUSED;
  if (!end->known) return end->expelled ? CR_CAUSE_CRASH : CR_CAUSE_KILLED;
  if (WIFEXITED(end->status)) return CR_CAUSE_EXIT;
  if (WTERMSIG(end->status) == SIGKILL) return end->expelled ? CR_CAUSE_CRASH : CR_CAUSE_KILLED;
  if (lang == CR_NODE && speaks_of_memory(errors)) return CR_CAUSE_MEMORY;
  return CR_CAUSE_CRASH;
}

static void own_doing(enum cr_lang lang, int status, struct cr_outcome *outcome, char *text, size_t size) {
  if (WIFEXITED(status)) {
    outcome->exit_code = lang == CR_NODE && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
    snprintf(text, size, "the interpreter exited with status %d", WEXITSTATUS(status));
  } else {
    outcome->exit_code = lang == CR_NODE ? 128 + WTERMSIG(status) : 1;
    snprintf(text, size, "the interpreter ended abnormally");
  }
  outcome->failure = (const uint8_t *)text;
  outcome->failure_length = (uint32_t)strlen(text);
}

void cr_death_outcome(enum cr_lang lang, enum cr_cause cause, int status, struct cr_outcome *outcome, char *text,
                      size_t size) {
  struct cr_error *error = &outcome->error;
  switch (cause) {
    case CR_CAUSE_DEADLINE: cr_error_set(error, CR_TIMEOUT, "execution exceeded its deadline"); break;
    case CR_CAUSE_MEMORY: cr_error_set(error, CR_RESOURCE_EXHAUSTED, "the runtime's memory cap was exceeded"); break;
    case CR_CAUSE_DISK: cr_error_set(error, CR_RESOURCE_EXHAUSTED, "%s", text); break;
    case CR_CAUSE_CRASH:
    case CR_CAUSE_EXIT: own_doing(lang, status, outcome, text, size); break;
    case CR_CAUSE_KILLED:
      cr_error_set(error, CR_ENGINE, "the process of this runtime was killed from outside; the call may be retried");
      break;
    case CR_CAUSE_REFUSED:
      cr_error_set(error, CR_ENGINE, "%s engine failed to start a runtime", cr_lang_name(lang));
      break;
  }
}
