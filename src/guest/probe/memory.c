// Memory, threads, descriptors: each ends at a limit, or ends the runtime alone.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/probe/probe.h"

static void one_large_mapping(int stream, struct probe_report *report) {
  (void)stream;
  void *memory = mmap(NULL, 8ull << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  report->returned = memory == MAP_FAILED ? -1 : 0;
  report->error = memory == MAP_FAILED ? errno : 0;
}

// `returned` is how many MiB could be mapped and touched.
static void all_memory(int stream, struct probe_report *report) {
  (void)stream;
  long megabytes = 0;
  for (; megabytes < 4096; megabytes++) {
    void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) break;
    memset(memory, 1, 1 << 20);
  }
  report->error = errno;
  report->returned = megabytes;
}

// A private mapping without write permission is not counted; making it writable is.
static void late_permission(int stream, struct probe_report *report) {
  (void)stream;
  char *memory = mmap(NULL, 8ull << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    report->returned = -1;
    report->error = errno;
    return;
  }
  long megabytes = 0;
  for (; megabytes < 8192; megabytes++) {
    if (mprotect(memory + (megabytes << 20), 1 << 20, PROT_READ | PROT_WRITE)) break;
    memset(memory + (megabytes << 20), 1, 1 << 20);
  }
  report->error = errno;
  report->returned = megabytes;
}

static void heap_break(int stream, struct probe_report *report) {
  (void)stream;
  report->returned = sbrk(4L << 30) == (void *)-1 ? -1 : 0;
  report->error = report->returned ? errno : 0;
}

// Deeper than any stack: the runtime dies of SIGSEGV.
static __attribute__((noinline)) long recurse(long depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return depth > (1L << 30) ? frame[0] : recurse(depth + 1) + frame[0];
}

static void stack(int stream, struct probe_report *report) {
  (void)stream;
  report->returned = recurse(0);
}

static void *idle(void *unused) {
  (void)unused;
  for (;;) poll(NULL, 0, -1);
}

// `returned` is how many threads could be had.
static void threads(int stream, struct probe_report *report) {
  (void)stream;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 << 10);
  pthread_t thread;
  int made = 0;
  while (made < 10000 && !(report->error = pthread_create(&thread, &small, idle, NULL))) made++;
  report->returned = made;
}

static void descriptors(int stream, struct probe_report *report) {
  int made = 0;
  while (made < 100000 && dup(stream) >= 0) made++;
  report->error = errno;
  report->returned = made;
}

// Refused, so that a SIGKILL always comes from outside.
static void kill_itself(int stream, struct probe_report *report) {
  (void)stream;
  report->returned = syscall(SYS_kill, getpid(), SIGKILL);
  report->error = report->returned < 0 ? errno : 0;
}

#define DEATH(name, ...)                                      \
  static void name(int stream, struct probe_report *report) { \
    (void)stream;                                             \
    __VA_ARGS__;                                              \
    report->returned = 0;                                     \
  }

DEATH(bad_pointer, *(volatile int *)8 = 1)
DEATH(abort_itself, abort())
DEATH(trap, __builtin_trap())
DEATH(leave_quietly, _exit(0))
DEATH(leave_loudly, _exit(9))
DEATH(leave_as_seal_failure, _exit(125))
DEATH(spin, for (;;) continue)
DEATH(sleep_forever, for (;;) poll(NULL, 0, -1))
DEATH(ignore_signals, for (int s = 1; s < 65; s++) signal(s, SIG_IGN); for (;;) continue)
#ifdef __x86_64__
// Another call convention must not be another filter.
DEATH(old_convention, long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(2L)); report->text[0] = r > 0 ? 'F' : 0)
DEATH(x32_convention, report->error = syscall(0x40000000 + SYS_socket, 2, 1, 0) < 0 ? errno : 0)
#endif

#define ENTRY(name) {#name, name}
const struct probe_entry probe_memory[] = {ENTRY(one_large_mapping),
                                           ENTRY(all_memory),
                                           ENTRY(late_permission),
                                           ENTRY(heap_break),
                                           ENTRY(stack),
                                           ENTRY(threads),
                                           ENTRY(descriptors),
                                           ENTRY(bad_pointer),
                                           ENTRY(abort_itself),
                                           ENTRY(trap),
                                           ENTRY(kill_itself),
                                           ENTRY(leave_quietly),
                                           ENTRY(leave_loudly),
                                           ENTRY(leave_as_seal_failure),
                                           ENTRY(spin),
                                           ENTRY(sleep_forever),
                                           ENTRY(ignore_signals),
#ifdef __x86_64__
                                           ENTRY(old_convention),
                                           ENTRY(x32_convention),
#endif
                                           {0}};
