// The end of the zygote's boot and the beginning of every runtime.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "guest/node/guest.h"

#define RANGES_MAX 32768
#define REHEARSALS 300

// "from-to …" in hexadecimal, proc_pid_maps(5).
static int read_range(const char *line, unsigned long *from, unsigned long *to) {
  char *end;
  *from = strtoul(line, &end, 16);
  if (*end != '-') return 0;
  *to = strtoul(end + 1, &end, 16);
  return *end == ' ';
}

// V8 marks its memory MADV_DONTFORK (a fork would fault at its first touch): undo it. The table is static, because
// allocating while the list of mappings is read would change it.
static void let_memory_fork(void) {
  static struct {
    unsigned long from, to;
  } ranges[RANGES_MAX];
  size_t count = 0;
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && count < RANGES_MAX && fgets(line, sizeof line, maps))
    count += (size_t)read_range(line, &ranges[count].from, &ranges[count].to);
  if (maps) fclose(maps);
  for (size_t i = 0; i < count; i++) madvise((void *)ranges[i].from, ranges[i].to - ranges[i].from, MADV_DOFORK);
}

static void in_fork(void *of) {
  (void)of;
  if (uv_loop_fork(guest.loop)) _exit(125);
  uv_update_time(guest.loop);
}

// Called by the loop and not by a script: a fork has no frame of the harness on its stack.
static void on_parked(uv_idle_t *idle) {
  uv_idle_stop(idle);
  for (uint32_t i = 0; i < REHEARSALS; i++) channel_prompt(PROMPT_REHEARSE, i);
  channel_prompt(PROMPT_SETTLE, 0);
  malloc_trim(0);
  let_memory_fork();
  struct cr_zygote_options options = {
      .version = guest.version, .policy = CR_POLICY_NODE, .keep_scratch = 1, .in_fork = in_fork};
  if (cr_zygote_serve(&options, &guest.runtime)) _exit(1);
  uint32_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) _exit(1);
  channel_prompt(PROMPT_WAKE, seed);
  // A spare has time to make the pages of a run its own; a fork that is waited for has not.
  if (!channel_waiting()) channel_prompt(PROMPT_REHEARSE, 1);
  channel_start();
}

napi_value guest_serve(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  napi_value resource;
  size_t length;
  if (napi_get_value_string_utf8(env, arguments.at[0], guest.version, sizeof guest.version, &length) ||
      napi_create_reference(env, arguments.at[1], 1, &guest.dispatch) ||
      napi_create_reference(env, arguments.at[2], 1, &guest.ended) || napi_create_object(env, &resource) ||
      napi_create_reference(env, resource, 1, &guest.resource) ||
      napi_async_init(env, resource, make_string(env, "code-runner", 11), &guest.context))
    return throw_error(env, "cannot serve");
  uv_idle_init(guest.loop, &guest.parked);
  uv_idle_start(&guest.parked, on_parked);
  return make_undefined(env);
}
