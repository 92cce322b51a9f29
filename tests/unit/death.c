// worker/death.h: contract 3.2. The guest's own doing is a response, a limit is an error.
#include "unit.h"

#include <signal.h>
#include <stdio.h>

#include "worker/death.h"

// Wait statuses as waitpid(2) gives them.
#define EXITED(n) ((n) << 8)
#define SIGNALLED(n) (n)

static const char heap[] =
    "printed by the guest\n\n<--- Last few GCs --->\n\n[3:0x1] 12 ms: Mark-Compact\n\n"
    "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n----- Native stack trace "
    "-----\n";

static enum cr_cause cause(enum cr_lang lang, int status, const char *errors) {
  struct cr_end end = {.known = 1, .status = status, .parked = 1};
  if (!errors) return cr_death_cause(lang, &end, NULL);
  struct cr_capture capture;
  cr_capture_start(&capture, 16384);
  cr_capture_write(&capture, errors, strlen(errors));
  cr_capture_finish(&capture);
  enum cr_cause found = cr_death_cause(lang, &end, &capture);
  cr_capture_free(&capture);
  return found;
}

static void ends_have_causes(void **state) {
  (void)state;
  for (int lang = 0; lang < CR_LANGS; lang++) {
    assert_int_equal(cause((enum cr_lang)lang, EXITED(0), NULL), CR_CAUSE_EXIT);
    assert_int_equal(cause((enum cr_lang)lang, EXITED(3), ""), CR_CAUSE_EXIT);
    assert_int_equal(cause((enum cr_lang)lang, SIGNALLED(SIGSEGV), ""), CR_CAUSE_CRASH);
    assert_int_equal(cause((enum cr_lang)lang, SIGNALLED(SIGABRT), "abort() called\n"), CR_CAUSE_CRASH);
    assert_int_equal(cause((enum cr_lang)lang, SIGNALLED(SIGKILL), ""), CR_CAUSE_KILLED);
    struct cr_end unknown = {.parked = 1};
    assert_int_equal(cr_death_cause((enum cr_lang)lang, &unknown, NULL), CR_CAUSE_KILLED);
  }
}

static void an_exhausted_heap_is_memory(void **state) {
  (void)state;
  assert_int_equal(cause(CR_NODE, SIGNALLED(SIGABRT), heap), CR_CAUSE_MEMORY);
  assert_int_equal(cause(CR_NODE, SIGNALLED(SIGTRAP), "#\n# Fatal process out of memory: Zone\n#\n"), CR_CAUSE_MEMORY);
}

// What a guest prints itself is no report of the engine's.
static void words_of_the_guest_are_not_believed(void **state) {
  (void)state;
  assert_int_equal(cause(CR_NODE, SIGNALLED(SIGABRT), "my script ran out of memory\n"), CR_CAUSE_CRASH);
  assert_int_equal(cause(CR_PYTHON, SIGNALLED(SIGABRT), "out of memory\n"), CR_CAUSE_CRASH);
}

static void the_engines_report_is_told_from_the_guests_output(void **state) {
  (void)state;
  size_t kept = cr_death_words(heap, strlen(heap));
  assert_int_equal(kept, strlen("printed by the guest\n"));
  assert_int_equal(cr_death_words("plain text\n", 11), 11);
  assert_int_equal(cr_death_words("", 0), 0);
  assert_int_equal(cr_death_words("FATAL ERROR: x", 14), 0);
}

static struct cr_outcome outcome_of(enum cr_lang lang, enum cr_cause why, int status, char text[128]) {
  struct cr_outcome outcome = {0};
  snprintf(text, 128, "%s", "the budget of /work");
  cr_death_outcome(lang, why, status, &outcome, text, 128);
  return outcome;
}

static void limits_are_errors(void **state) {
  (void)state;
  static const struct {
    enum cr_cause why;
    const char *code, *fragment;
  } cases[] = {{CR_CAUSE_DEADLINE, CR_TIMEOUT, "execution exceeded its deadline"},
               {CR_CAUSE_MEMORY, CR_RESOURCE_EXHAUSTED, "memory"},
               {CR_CAUSE_DISK, CR_RESOURCE_EXHAUSTED, "/work"},
               {CR_CAUSE_KILLED, CR_ENGINE, "retried"},
               {CR_CAUSE_REFUSED, CR_ENGINE, "failed to start"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    struct cr_outcome outcome = outcome_of(CR_PYTHON, cases[i].why, 0, text);
    assert_string_equal(outcome.error.code, cases[i].code);
    if (!strstr(outcome.error.message, cases[i].fragment)) fail_msg("%s", outcome.error.message);
    cr_error_clear(&outcome.error);
  }
}

static void own_doing(enum cr_lang lang, enum cr_cause why, int status, int exit_code, const char *fragment) {
  char text[128];
  struct cr_outcome outcome = outcome_of(lang, why, status, text);
  assert_null(outcome.error.code);
  assert_int_equal(outcome.exit_code, exit_code);
  assert_non_null(memmem(outcome.failure, outcome.failure_length, fragment, strlen(fragment)));
}

static void the_guests_own_doing_is_a_response(void **state) {
  (void)state;
  own_doing(CR_PYTHON, CR_CAUSE_EXIT, EXITED(4), 1, "exited with status 4");
  own_doing(CR_PYTHON, CR_CAUSE_CRASH, SIGNALLED(SIGSEGV), 1, "ended abnormally");
  own_doing(CR_NODE, CR_CAUSE_EXIT, EXITED(4), 4, "exited with status 4");
  own_doing(CR_NODE, CR_CAUSE_EXIT, EXITED(0), 1, "exited with status 0");
  own_doing(CR_NODE, CR_CAUSE_CRASH, SIGNALLED(SIGABRT), 134, "ended abnormally");
}

UNIT_MAIN(T(ends_have_causes), T(an_exhausted_heap_is_memory), T(words_of_the_guest_are_not_believed),
          T(the_engines_report_is_told_from_the_guests_output), T(limits_are_errors),
          T(the_guests_own_doing_is_a_response))
