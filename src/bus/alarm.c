#include "bus/alarm.h"

#include <stdlib.h>

#include "base/mem.h"

struct cr_alarms {
  uv_timer_t timer;
  struct cr_alarm **heap;
  size_t count;
  size_t cap;
};

static void put(struct cr_alarms *alarms, size_t index, struct cr_alarm *alarm) {
  alarms->heap[index] = alarm;
  alarm->place = index + 1;
}

static void sift_up(struct cr_alarms *alarms, size_t index, struct cr_alarm *alarm) {
  while (index && alarms->heap[(index - 1) / 2]->due > alarm->due) {
    put(alarms, index, alarms->heap[(index - 1) / 2]);
    index = (index - 1) / 2;
  }
  put(alarms, index, alarm);
}

static void sift_down(struct cr_alarms *alarms, size_t index, struct cr_alarm *alarm) {
  for (;;) {
    size_t child = 2 * index + 1;
    if (child >= alarms->count) break;
    if (child + 1 < alarms->count && alarms->heap[child + 1]->due < alarms->heap[child]->due) child++;
    if (alarms->heap[child]->due >= alarm->due) break;
    put(alarms, index, alarms->heap[child]);
    index = child;
  }
  put(alarms, index, alarm);
}

static void on_timer(uv_timer_t *timer);

static void timer_update(struct cr_alarms *alarms) {
  if (!alarms->count) {
    uv_timer_stop(&alarms->timer);
    return;
  }
  uint64_t now = uv_now(alarms->timer.loop), due = alarms->heap[0]->due;
  uv_timer_start(&alarms->timer, on_timer, due > now ? due - now : 0, 0);
}

static void take_out(struct cr_alarms *alarms, struct cr_alarm *alarm) {
  size_t index = alarm->place - 1;
  struct cr_alarm *last = alarms->heap[--alarms->count];
  alarm->place = 0;
  if (last == alarm) return;
  if (index && alarms->heap[(index - 1) / 2]->due > last->due)
    sift_up(alarms, index, last);
  else
    sift_down(alarms, index, last);
}

static void on_timer(uv_timer_t *timer) {
  struct cr_alarms *alarms = timer->data;
  uint64_t now = uv_now(timer->loop);
  // An alarm that is set again while it rings is due later than now, or waits for the next turn of the loop.
  for (size_t most = alarms->count; most && alarms->count && alarms->heap[0]->due <= now; most--) {
    struct cr_alarm *alarm = alarms->heap[0];
    take_out(alarms, alarm);
    alarm->ring(alarm);
    if (uv_is_closing((uv_handle_t *)timer)) return;
  }
  timer_update(alarms);
}

struct cr_alarms *cr_alarms_create(uv_loop_t *loop) {
  struct cr_alarms *alarms = cr_alloc(sizeof *alarms);
  uv_timer_init(loop, &alarms->timer);
  alarms->timer.data = alarms;
  return alarms;
}

static void on_closed(uv_handle_t *handle) {
  struct cr_alarms *alarms = handle->data;
  free(alarms->heap);
  free(alarms);
}

void cr_alarms_free(struct cr_alarms *alarms) {
  alarms->count = 0;
  uv_close((uv_handle_t *)&alarms->timer, on_closed);
}

void cr_alarm_set(struct cr_alarms *alarms, struct cr_alarm *alarm, uint64_t after) {
  if (alarm->place) take_out(alarms, alarm);
  if (alarms->count == alarms->cap) {
    alarms->cap = alarms->cap ? alarms->cap * 2 : 16;
    alarms->heap = cr_grow(alarms->heap, alarms->cap * sizeof *alarms->heap);
  }
  alarm->due = uv_now(alarms->timer.loop) + after;
  sift_up(alarms, alarms->count++, alarm);
  if (alarms->heap[0] == alarm) timer_update(alarms);
}

void cr_alarm_clear(struct cr_alarms *alarms, struct cr_alarm *alarm) {
  if (!alarm->place) return;
  take_out(alarms, alarm);
}
