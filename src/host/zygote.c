#include "host/zygote.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "host/instance_internal.h"
#include "host/launch.h"

#define STARTS_IN_A_ROW 3
#define BOOT_LIMIT_MS 30000
#define RESTART_DELAY_MS 100
#define LATE_RESTART_DELAY_MS 2000
#define REFILL_DELAY_MS 20

struct cr_zygote {
  uv_loop_t *loop;
  struct cr_zygote_settings settings;
  cr_zygote_watch *watch;
  void *of;
  enum cr_zygote_state state;
  struct cr_launched launched;
  uv_poll_t control_poll;
  uv_timer_t timer;  // boot limit, then restart delay
  int control_open;
  int handles;
  int freed;
  int was_ever_ready;
  unsigned failed_starts;
  uint64_t started_at;
  double boot_ms;
  char version[128];
  char failure[160];
  uint32_t layers;
  uint32_t next_seq;
  uint32_t next_uid;
  struct cr_list instances;
};

static void start(struct cr_zygote *zygote);
static void fill_spares(struct cr_zygote *zygote);

enum cr_zygote_state cr_zygote_state(const struct cr_zygote *zygote) { return zygote->state; }
const char *cr_zygote_version(const struct cr_zygote *zygote) { return zygote->version; }
const char *cr_zygote_failure(const struct cr_zygote *zygote) { return zygote->failure; }
uint32_t cr_zygote_layers(const struct cr_zygote *zygote) { return zygote->layers; }
double cr_zygote_boot_ms(const struct cr_zygote *zygote) { return zygote->boot_ms; }
const struct cr_zygote_settings *cr_zygote_settings(const struct cr_zygote *zygote) { return &zygote->settings; }

static struct cr_instance *item(struct cr_list *link) { return cr_list_item(link, struct cr_instance, link); }

static void on_closed(uv_handle_t *handle) {
  struct cr_zygote *zygote = handle->data;
  if (--zygote->handles == 0 && zygote->freed) free(zygote);
}

static void close_control(struct cr_zygote *zygote) {
  if (!zygote->control_open) return;
  zygote->control_open = 0;
  uv_close((uv_handle_t *)&zygote->control_poll, on_closed);
  close(zygote->launched.control);
}

static void lose_init(struct cr_zygote *zygote, int kill_all) {
  if (zygote->launched.init < 0) return;
  if (kill_all) syscall(SYS_pidfd_send_signal, zygote->launched.init, SIGKILL, NULL, 0);
  waitid(P_PIDFD, (id_t)zygote->launched.init, &(siginfo_t){0}, WEXITED | (kill_all ? 0 : WNOHANG));
  close(zygote->launched.init);
  zygote->launched.init = -1;
}

static void on_restart(uv_timer_t *timer) { start(timer->data); }

static void give_up(struct cr_zygote *zygote) {
  zygote->state = CR_ZYGOTE_BROKEN;
  cr_log(CR_LOG_ERROR, "%s cannot be started: %s", zygote->settings.name, zygote->failure);
  for (struct cr_list *at = zygote->instances.next, *next; at != &zygote->instances; at = next) {
    next = at->next;
    if (item(at)->state == INSTANCE_REQUESTED) instance_refused(item(at));
  }
  zygote->watch(zygote->of, zygote);
}

// The zygote has gone. Runtimes that live go on; those asked for are asked for again.
static void lost(struct cr_zygote *zygote, const char *why) {
  snprintf(zygote->failure, sizeof zygote->failure, "%s", why);
  int was_ready = zygote->state == CR_ZYGOTE_READY;
  close_control(zygote);
  lose_init(zygote, !was_ready);
  for (struct cr_list *at = zygote->instances.next; at != &zygote->instances; at = at->next)
    instance_zygote_lost(item(at));
  zygote->failed_starts = was_ready ? 0 : zygote->failed_starts + 1;
  zygote->state = CR_ZYGOTE_BOOTING;
  int often = zygote->failed_starts >= STARTS_IN_A_ROW;
  if (often && !zygote->was_ever_ready) {
    give_up(zygote);
    return;
  }
  cr_log(CR_LOG_WARN, "the %s zygote is gone (%s); starting another", zygote->settings.name, why);
  uint64_t delay = was_ready ? 0 : often ? LATE_RESTART_DELAY_MS : RESTART_DELAY_MS;
  uv_timer_start(&zygote->timer, on_restart, delay, 0);
}

static void on_ready(struct cr_zygote *zygote, const struct cr_control *packet) {
  uv_timer_stop(&zygote->timer);
  zygote->state = CR_ZYGOTE_READY;
  zygote->was_ever_ready = 1;
  zygote->failed_starts = 0;
  zygote->layers = packet->layers | zygote->launched.layers;
  zygote->failure[0] = 0;
  if (!(zygote->layers & CR_LAYER_TMPFS) && !zygote->settings.scratch_root) zygote->settings.scratch_root = "/tmp";
  memcpy(zygote->version, packet->text, sizeof zygote->version);
  zygote->boot_ms = (double)(uv_hrtime() - zygote->started_at) / 1e6;
  cr_log(CR_LOG_INFO, "%s zygote ready: %s, %.0f ms", zygote->settings.name, zygote->version, zygote->boot_ms);
  for (struct cr_list *at = zygote->instances.next; at != &zygote->instances; at = at->next)
    if (item(at)->state == INSTANCE_REQUESTED) instance_request(item(at));
  fill_spares(zygote);
  zygote->watch(zygote->of, zygote);
}

static struct cr_instance *find_seq(struct cr_zygote *zygote, uint32_t seq) {
  for (struct cr_list *at = zygote->instances.next; at != &zygote->instances; at = at->next)
    if (item(at)->state == INSTANCE_REQUESTED && item(at)->seq == seq) return item(at);
  return NULL;
}

static struct cr_instance *find_pid(struct cr_zygote *zygote, int32_t pid) {
  for (struct cr_list *at = zygote->instances.next; at != &zygote->instances; at = at->next)
    if (item(at)->state != INSTANCE_REQUESTED && item(at)->pid == pid) return item(at);
  return NULL;
}

static void on_spawned(struct cr_zygote *zygote, const struct cr_control *packet, int *descriptors, int *count) {
  struct cr_instance *instance = find_seq(zygote, packet->seq);
  if (*count < 1) return;
  if (!instance) {  // freed meanwhile
    syscall(SYS_pidfd_send_signal, descriptors[0], SIGKILL, NULL, 0);
    return;
  }
  instance_spawned(instance, packet->pid, descriptors[0], *count > 1 ? descriptors[1] : -1);
  *count = 0;
}

static void on_packet(struct cr_zygote *zygote, const struct cr_control *packet, int *descriptors, int *count) {
  struct cr_instance *instance;
  switch (packet->kind) {
    case CR_CONTROL_READY: on_ready(zygote, packet); break;
    case CR_CONTROL_SPAWNED: on_spawned(zygote, packet, descriptors, count); break;
    case CR_CONTROL_FAILED:
      cr_log(CR_LOG_ERROR, "the %s zygote cannot fork: %s", zygote->settings.name, packet->text);
      instance = find_seq(zygote, packet->seq);
      if (instance) instance_refused(instance);
      break;
    case CR_CONTROL_REAPED:
      instance = find_pid(zygote, packet->pid);
      if (instance) instance_reaped(instance, packet->status);
      break;
    default: break;
  }
}

static void on_control(uv_poll_t *poll, int status, int events) {
  struct cr_zygote *zygote = poll->data;
  (void)events;
  for (int packets = 0; packets < 64 && zygote->control_open; packets++) {
    struct cr_control packet;
    int descriptors[CR_CONTROL_DESCRIPTORS], count = 0;
    int got = status ? 0 : cr_control_receive(zygote->launched.control, &packet, descriptors, &count, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      lost(zygote, "it ended");
      return;
    }
    on_packet(zygote, &packet, descriptors, &count);
    while (count > 0) close(descriptors[--count]);
  }
}

static void on_boot_limit(uv_timer_t *timer) { lost(timer->data, "it did not get ready in time"); }

static void start(struct cr_zygote *zygote) {
  struct cr_error err = {0};
  static char *const environment[] = {"PATH=/nowhere", NULL};
  struct cr_launch launch = {.init = zygote->settings.init,
                             .arguments = zygote->settings.arguments,
                             .environment = environment,
                             .stack_bytes = zygote->settings.stack_bytes};
  zygote->started_at = uv_hrtime();
  if (cr_launch(&launch, &zygote->launched, &err)) {
    zygote->launched.init = -1;
    lost(zygote, err.message);
    cr_error_clear(&err);
    return;
  }
  zygote->control_open = 1;
  zygote->handles++;
  zygote->control_poll.data = zygote;
  uv_poll_init(zygote->loop, &zygote->control_poll, zygote->launched.control);
  uv_poll_start(&zygote->control_poll, UV_READABLE, on_control);
  uv_timer_start(&zygote->timer, on_boot_limit, BOOT_LIMIT_MS, 0);
}

struct cr_zygote *cr_zygote_create(uv_loop_t *loop, const struct cr_zygote_settings *settings, cr_zygote_watch *watch,
                                   void *of) {
  struct cr_zygote *zygote = cr_alloc(sizeof *zygote);
  zygote->loop = loop;
  zygote->settings = *settings;
  zygote->watch = watch;
  zygote->of = of;
  zygote->launched.init = -1;
  cr_list_init(&zygote->instances);
  uv_timer_init(loop, &zygote->timer);
  zygote->timer.data = zygote;
  zygote->handles = 1;
  // From the loop, so that the caller has the zygote before the first callback.
  uv_timer_start(&zygote->timer, on_restart, 0, 0);
  return zygote;
}

static int prepare_scratch(struct cr_zygote *zygote, struct cr_instance *instance) {
  if (instance->scratch.fd >= 0) return 0;
  uint32_t uids = zygote->launched.uids;
  instance->scratch.uid = uids ? 1 + zygote->next_uid++ % uids : 0;
  if (!zygote->settings.scratch_root) return 0;
  uint32_t owner = instance->scratch.uid ? zygote->launched.uid_base + instance->scratch.uid : 0;
  struct cr_error err = {0};
  if (!cr_scratch_on_disk(zygote->settings.scratch_root, instance->scratch.uid, owner, &instance->scratch, &err))
    return 0;
  cr_log(CR_LOG_ERROR, "%s", err.message);
  cr_error_clear(&err);
  return -1;
}

int zygote_send_spawn(struct cr_zygote *zygote, struct cr_instance *instance) {
  instance->seq = ++zygote->next_seq;
  if (!zygote->control_open) return -1;
  if (prepare_scratch(zygote, instance)) {
    instance_refused(instance);
    return -1;
  }
  int given[4] = {instance->given[0], instance->given[1], instance->given[2], instance->scratch.fd};
  int attached = instance->scratch.fd >= 0;
  struct cr_control packet = {
      .kind = CR_CONTROL_SPAWN,
      .seq = instance->seq,
      .flags = attached ? CR_SPAWN_SCRATCH : 0,
      .uid = instance->scratch.uid,
      .data_bytes = instance->data_bytes,
      .tmpfs_bytes = zygote->settings.tmpfs_bytes,
      .tmpfs_inodes = zygote->settings.tmpfs_inodes,
  };
  return cr_control_send(zygote->launched.control, &packet, given, attached ? 4 : 3);
}

struct cr_instance *cr_zygote_fork(struct cr_zygote *zygote, uint64_t data_bytes, struct cr_scratch *scratch) {
  struct cr_instance *instance =
      instance_create(zygote, data_bytes ? data_bytes : zygote->settings.data_bytes, scratch);
  cr_list_append(&zygote->instances, &instance->link);
  uv_timer_init(zygote->loop, &instance->patience);
  instance->patience.data = instance;
  instance->handles++;
  if (zygote->state == CR_ZYGOTE_BROKEN)
    instance_refused(instance);
  else if (zygote->state == CR_ZYGOTE_READY)
    instance_request(instance);
  return instance;
}

static void fill_spares(struct cr_zygote *zygote) {
  unsigned have = 0;
  for (struct cr_list *at = zygote->instances.next; at != &zygote->instances; at = at->next)
    have += (unsigned)item(at)->spare;
  for (; zygote->state == CR_ZYGOTE_READY && have < zygote->settings.spares; have++)
    cr_zygote_fork(zygote, 0, NULL)->spare = 1;
}

static void on_refill(uv_timer_t *timer) { fill_spares(timer->data); }

struct cr_instance *cr_zygote_take(struct cr_zygote *zygote) {
  struct cr_instance *found = NULL;
  for (struct cr_list *at = zygote->instances.next; at != &zygote->instances; at = at->next) {
    if (!item(at)->spare) continue;
    if (!found) found = item(at);
    if (item(at)->state != INSTANCE_LIVE) continue;
    found = item(at);
    break;
  }
  if (!found) found = cr_zygote_fork(zygote, 0, NULL);
  found->spare = 0;
  // Not now: the fork would compete with the run that this one was taken for.
  if (!uv_is_active((uv_handle_t *)&zygote->timer)) uv_timer_start(&zygote->timer, on_refill, REFILL_DELAY_MS, 0);
  return found;
}

// A spare that died unused is replaced a little later, lest forks that cannot live follow each other without a break.
void zygote_forget(struct cr_zygote *zygote, struct cr_instance *instance) {
  cr_list_remove(&instance->link);
  if (zygote->freed || zygote->state != CR_ZYGOTE_READY) return;
  uv_timer_start(&zygote->timer, on_refill, instance->spare ? REFILL_DELAY_MS : 0, 0);
  instance->spare = 0;
}

void cr_zygote_free(struct cr_zygote *zygote) {
  zygote->freed = 1;
  while (!cr_list_empty(&zygote->instances)) cr_instance_free(item(zygote->instances.next));
  close_control(zygote);
  lose_init(zygote, 1);
  uv_close((uv_handle_t *)&zygote->timer, on_closed);
}
