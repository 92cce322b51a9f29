// Many deadlines on one libuv timer: a binary heap. Loop thread only.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

struct cr_alarm;
typedef void cr_alarm_ring(struct cr_alarm *alarm);

// Lives in the record it is about. Zeroed except for `ring` is an alarm that is not set.
struct cr_alarm {
  cr_alarm_ring *ring;
  uint64_t due;  // uv_now of the loop, milliseconds
  size_t place;  // 1 + index in the heap; 0: not set
};

struct cr_alarms;

struct cr_alarms *cr_alarms_create(uv_loop_t *loop);
// Rings nothing any more; the memory goes when the loop has closed the timer. Alarms still set are forgotten.
void cr_alarms_free(struct cr_alarms *alarms);

// Sets (or moves) an alarm to `after` milliseconds from the loop's now. It is off again when it rings.
void cr_alarm_set(struct cr_alarms *alarms, struct cr_alarm *alarm, uint64_t after);
// Safe to repeat.
void cr_alarm_clear(struct cr_alarms *alarms, struct cr_alarm *alarm);
