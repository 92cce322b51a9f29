// Clocks, randomness, waiting, the end.
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "guest/python/wasi/internal.h"

#define NANOSECONDS 1000000000ull
#define SUBSCRIPTIONS 64

enum { EVENT_CLOCK, EVENT_READ, EVENT_WRITE };

// The ABI's structures; both ends are little-endian.
struct subscription {
  uint64_t userdata;
  uint8_t kind;
  uint8_t pad[7];
  union {
    struct {
      uint32_t id;
      uint32_t pad;
      uint64_t timeout;
      uint64_t precision;
      uint16_t absolute;
    } clock;
    uint32_t descriptor;
  };
};

struct event {
  uint64_t userdata;
  uint16_t error;
  uint8_t kind;
  uint8_t pad[5];
  uint64_t bytes;
  uint16_t flags;
};

_Static_assert(sizeof(struct subscription) == 48 && sizeof(struct event) == 32, "WASI preview 1");

static int clock_of(uint32_t id, clockid_t *clock) {
  static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_PROCESS_CPUTIME_ID,
                                     CLOCK_THREAD_CPUTIME_ID};
  if (id >= sizeof clocks / sizeof *clocks) return -1;
  *clock = clocks[id];
  return 0;
}

static uint64_t now(const struct cr_wasi *wasi, clockid_t clock) {
  struct timespec time;
  if (wasi->frozen) return WASI_FROZEN_TIME;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

static uint32_t clock_time_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  clockid_t clock;
  if (clock_of((uint32_t)a[0].i32, &clock)) return WASI_INVAL;
  return wasi_put64(wasi, (uint32_t)a[2].i32, now(wasi, clock));
}

static uint32_t clock_res_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  clockid_t clock;
  struct timespec time;
  if (clock_of((uint32_t)a[0].i32, &clock)) return WASI_INVAL;
  clock_getres(clock, &time);
  return wasi_put64(wasi, (uint32_t)a[1].i32, (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec);
}

static uint32_t random_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  uint8_t *at = wasi_at(wasi, (uint32_t)a[0].i32, (uint32_t)a[1].i32);
  size_t left = (uint32_t)a[1].i32;
  if (!at) return WASI_FAULT;
  if (wasi->frozen) {
    for (size_t i = 0; i < left; i++) at[i] = (uint8_t)(i * 167 + 13);
    return WASI_SUCCESS;
  }
  while (left) {
    ssize_t got = getrandom(at, left, 0);
    if (got < 0 && errno != EINTR) return wasi_errno_of(errno);
    if (got < 0) continue;
    at += got;
    left -= (size_t)got;
  }
  return WASI_SUCCESS;
}

// A wait: what poll(2) gets, and the moment (of the monotonic clock) of the earliest timer.
struct wait {
  struct subscription list[SUBSCRIPTIONS];
  struct pollfd polls[SUBSCRIPTIONS];
  uint64_t due[SUBSCRIPTIONS];
  uint64_t first;
  uint32_t count;
};

static uint32_t subscribe(struct cr_wasi *wasi, struct wait *wait, uint32_t i) {
  const struct subscription *wish = &wait->list[i];
  wait->polls[i] = (struct pollfd){.fd = -1};
  wait->due[i] = UINT64_MAX;
  if (wish->kind == EVENT_CLOCK) {
    clockid_t clock;
    if (clock_of(wish->clock.id, &clock)) return WASI_INVAL;
    uint64_t timeout = wish->clock.timeout, at = now(wasi, clock), base = now(wasi, CLOCK_MONOTONIC);
    if (wish->clock.absolute & 1) timeout = timeout > at ? timeout - at : 0;
    if (wasi->frozen) timeout = 0;
    wait->due[i] = timeout > UINT64_MAX - base ? UINT64_MAX : base + timeout;
    if (wait->due[i] < wait->first) wait->first = wait->due[i];
    return WASI_SUCCESS;
  }
  struct cr_wasi_file *file = wasi_file(wasi, wish->descriptor);
  if (!file || wish->kind > EVENT_WRITE) return WASI_BADF;
  wait->polls[i] = (struct pollfd){.fd = file->host, .events = wish->kind == EVENT_READ ? POLLIN : POLLOUT};
  return WASI_SUCCESS;
}

static uint32_t report(struct cr_wasi *wasi, const struct wait *wait, uint32_t address, uint32_t *events) {
  uint64_t at = now(wasi, CLOCK_MONOTONIC);
  *events = 0;
  for (uint32_t i = 0; i < wait->count; i++) {
    if (wait->polls[i].fd < 0 ? at < wait->due[i] : !wait->polls[i].revents) continue;
    struct event event = {.userdata = wait->list[i].userdata, .kind = wait->list[i].kind, .bytes = 1};
    if (wait->polls[i].revents & POLLHUP) event.flags = 1;
    void *to = wasi_at(wasi, address + *events * (uint32_t)sizeof event, sizeof event);
    if (!to) return WASI_FAULT;
    memcpy(to, &event, sizeof event);
    ++*events;
  }
  return WASI_SUCCESS;
}

static uint32_t poll_oneoff(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct wait wait = {.count = (uint32_t)a[2].i32, .first = UINT64_MAX};
  if (!wait.count || wait.count > SUBSCRIPTIONS) return WASI_INVAL;
  const void *list = wasi_at(wasi, (uint32_t)a[0].i32, (uint64_t)wait.count * sizeof *wait.list);
  if (!list) return WASI_FAULT;
  memcpy(wait.list, list, wait.count * sizeof *wait.list);
  for (uint32_t i = 0; i < wait.count; i++) {
    uint32_t error = subscribe(wasi, &wait, i);
    if (error) return error;
  }
  uint32_t events = 0, error = WASI_SUCCESS;
  while (!events && !error) {
    uint64_t at = now(wasi, CLOCK_MONOTONIC), left = wait.first > at ? wait.first - at : 0;
    struct timespec time = {(time_t)(left / NANOSECONDS), (long)(left % NANOSECONDS)};
    if (ppoll(wait.polls, wait.count, wait.first == UINT64_MAX ? NULL : &time, NULL) < 0 && errno != EINTR)
      return wasi_errno_of(errno);
    error = report(wasi, &wait, (uint32_t)a[1].i32, &events);
  }
  return error ? error : wasi_put32(wasi, (uint32_t)a[3].i32, events);
}

static uint32_t yield(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  (void)wasi;
  (void)a;
  return WASI_SUCCESS;
}

static uint32_t proc_exit(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  wasi->exit(wasi->of, a[0].i32);
  __builtin_unreachable();
}

static uint32_t environ_sizes_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  uint32_t error = wasi_put32(wasi, (uint32_t)a[0].i32, 0);
  return error ? error : wasi_put32(wasi, (uint32_t)a[1].i32, 0);
}

static uint32_t environ_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  (void)wasi;
  (void)a;
  return WASI_SUCCESS;
}

static uint32_t no_socket(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  return wasi_file(wasi, (uint32_t)a[0].i32) ? WASI_NOTSOCK : WASI_BADF;
}

const struct wasi_import wasi_system_imports[] = {
    {"clock_time_get", "iIi", clock_time_get},
    {"clock_res_get", "ii", clock_res_get},
    {"random_get", "ii", random_get},
    {"poll_oneoff", "iiii", poll_oneoff},
    {"sched_yield", "", yield},
    {"proc_exit", "i", proc_exit},
    {"environ_sizes_get", "ii", environ_sizes_get},
    {"environ_get", "ii", environ_get},
    {"sock_accept", "iii", no_socket},
    {"sock_recv", "iiiiii", no_socket},
    {"sock_send", "iiiii", no_socket},
    {"sock_shutdown", "ii", no_socket},
    {0},
};
