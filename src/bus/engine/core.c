#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/id.h"
#include "base/log.h"
#include "bus/engine/internal.h"

#define KEEP_BYTES (1u << 20)

struct held {
  struct cr_list link;
  size_t length;
  char text[];
};

uint64_t cr_engine_clock_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

char *cr_copied(const char *text) { return text ? cr_strdup(text) : NULL; }

char *cr_value_text(yyjson_val *value, size_t *length) {
  char *text = value ? yyjson_val_write(value, YYJSON_WRITE_NOFLAG, length) : NULL;
  if (value && !text) cr_out_of_memory();
  return text;
}

struct cr_writer cr_engine_frame(struct cr_engine *engine, const char *type) {
  engine->frame.len = 0;
  if (engine->frame.cap > KEEP_BYTES) cr_buf_free(&engine->frame);
  return cr_msg_open(&engine->frame, type);
}

void cr_peer_send_frame(struct peer *peer) {
  struct cr_engine *engine = peer->engine;
  if (peer->gone || peer->io->send(peer->of, engine->frame.data, engine->frame.len)) return;
  struct peer *source = engine->current;
  if (!source || source->gone || !peer->io->choked(peer->of) || !cr_list_empty(&source->waiting)) return;
  cr_list_append(&peer->waiters, &source->waiting);
  source->io->pause(source->of);
}

void cr_peer_drained(struct peer *peer) {
  while (!cr_list_empty(&peer->waiters)) {
    struct peer *source = cr_list_item(peer->waiters.next, struct peer, waiting);
    cr_list_remove(&source->waiting);
    source->io->resume(source->of);
  }
}

static void on_grace(struct cr_alarm *alarm) {
  struct peer *peer = cr_list_item(alarm, struct peer, grace);
  cr_peer_settle(peer, DEFAULT_NAMESPACE);
}

struct peer *cr_peer_create(struct cr_engine *engine, const struct peer_io *io, void *of, const char *address) {
  if (engine->stopping || engine->peer_count >= PEERS_MAX) return NULL;
  struct peer *peer = cr_alloc(sizeof *peer);
  peer->engine = engine;
  peer->io = io;
  peer->of = of;
  peer->pid = -1;
  peer->grace.ring = on_grace;
  peer->connected_at_ms = cr_engine_clock_ms();
  cr_uuid(peer->id);
  cr_uuid(peer->token);
  memcpy(peer->address, address, strnlen(address, sizeof peer->address - 1));
  struct cr_list *lists[] = {&peer->held,    &peer->functions, &peer->types,   &peer->bindings,
                             &peer->calling, &peer->executing, &peer->waiters, &peer->waiting};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) cr_list_init(lists[i]);
  cr_list_append(&engine->peers, &peer->link);
  HASH_ADD_STR(engine->by_id, id, peer);
  engine->peer_count++;
  cr_alarm_set(engine->alarms, &peer->grace, engine->grace_ms);
  struct cr_writer writer = cr_engine_frame(engine, "workerregistered");
  cr_write_text(&writer, "worker_id", peer->id);
  cr_write_text(&writer, "reattach_token", peer->token);
  cr_writer_close(&writer);
  cr_peer_send_frame(peer);
  cr_event_worker(engine, "worker_connected", peer->id);
  return peer;
}

struct peer *cr_peer_find(struct cr_engine *engine, const char *id) {
  struct peer *peer = NULL;
  HASH_FIND_STR(engine->by_id, id, peer);
  return peer;
}

static void held_free(struct peer *peer) {
  while (!cr_list_empty(&peer->held)) {
    struct held *held = cr_list_item(peer->held.next, struct held, link);
    cr_list_remove(&held->link);
    free(held);
  }
  peer->held_bytes = 0;
}

// Everything of spec 3.6; the record itself stays until its message has been handled.
static void clean_up(struct peer *peer) {
  struct cr_engine *engine = peer->engine;
  peer->gone = 1;
  HASH_DEL(engine->by_id, peer);
  cr_list_remove(&peer->link);
  engine->peer_count--;
  cr_alarm_clear(engine->alarms, &peer->grace);
  held_free(peer);
  while (!cr_list_empty(&peer->functions))
    cr_catalogue_remove(engine, cr_list_item(peer->functions.next, struct function, link));
  cr_invocations_stop(peer);
  cr_triggers_drop(peer);
  cr_workers_release(peer);
  cr_list_remove(&peer->waiting);
  cr_peer_drained(peer);
  if (!engine->stopping) cr_event_worker(engine, "worker_disconnected", peer->id);
}

void cr_peer_gone(struct peer *peer) {
  if (!peer->gone) clean_up(peer);
  free(peer->name_space);
  free(peer->name);
  free(peer->runtime);
  free(peer->version);
  free(peer->description);
  free(peer->os);
  free(peer->isolation);
  free(peer);
}

// --- messages -----------------------------------------------------------------------------------------------------

static int is_registration(enum cr_msg_type type) {
  return type == CR_MSG_REGISTER_FUNCTION || type == CR_MSG_UNREGISTER_FUNCTION || type == CR_MSG_REGISTER_TRIGGER ||
         type == CR_MSG_UNREGISTER_TRIGGER || type == CR_MSG_REGISTER_TRIGGER_TYPE ||
         type == CR_MSG_UNREGISTER_TRIGGER_TYPE || type == CR_MSG_REGISTER_SERVICE;
}

static void hold(struct peer *peer, const char *text, size_t length) {
  size_t bytes = sizeof(struct held) + length;
  if (bytes > HELD_MAX - peer->held_bytes) {
    cr_log(CR_LOG_WARN, "engine: worker %s sends too many registrations before its metadata", peer->id);
    peer->io->end(peer->of, 1);
    return;
  }
  struct held *held = cr_alloc(bytes);
  held->length = length;
  memcpy(held->text, text, length);
  peer->held_bytes += bytes;
  cr_list_append(&peer->held, &held->link);
}

static void reattach(struct peer *peer, const struct cr_msg *msg) {
  struct peer *old = cr_peer_find(peer->engine, msg->previous_worker_id);
  if (!old || old == peer || !msg->reattach_token || strcmp(msg->reattach_token, old->token) != 0) {
    cr_log(CR_LOG_INFO, "engine: a reattach of worker %s matches nothing", peer->id);
    return;
  }
  clean_up(old);
  old->io->end(old->of, 1);
}

static void pong(struct peer *peer) {
  struct cr_writer writer = cr_engine_frame(peer->engine, "pong");
  cr_writer_close(&writer);
  cr_peer_send_frame(peer);
}

static void handle(struct peer *peer, const struct cr_msg *msg) {
  switch (msg->type) {
    case CR_MSG_REGISTER_FUNCTION: cr_catalogue_register(peer, msg); break;
    case CR_MSG_UNREGISTER_FUNCTION: cr_catalogue_unregister(peer, msg->id); break;
    case CR_MSG_REGISTER_TRIGGER_TYPE: cr_trigger_type_register(peer, msg); break;
    case CR_MSG_UNREGISTER_TRIGGER_TYPE: cr_trigger_type_unregister(peer, msg->id); break;
    case CR_MSG_REGISTER_TRIGGER: cr_trigger_register(peer, msg); break;
    case CR_MSG_UNREGISTER_TRIGGER: cr_trigger_unregister(peer->engine, msg->id); break;
    case CR_MSG_TRIGGER_RESULT: cr_trigger_acknowledged(peer, msg); break;
    case CR_MSG_INVOKE: cr_invoke(peer, msg); break;
    case CR_MSG_RESULT: cr_invoke_result(peer, msg); break;
    case CR_MSG_REATTACH: reattach(peer, msg); break;
    case CR_MSG_PING: pong(peer); break;
    default: break;
  }
}

void cr_peer_take(struct peer *peer, const char *text, size_t length) {
  struct cr_engine *engine = peer->engine;
  struct cr_msg msg;
  const char *why = NULL;
  if (peer->gone) return;
  if (cr_msg_decode(&msg, text, length, &why)) {
    cr_log(CR_LOG_DEBUG, "engine: a message of worker %s is ignored: %s", peer->id, why);
    return;
  }
  engine->current = peer;
  if (!peer->settled && is_registration(msg.type))
    hold(peer, text, length);
  else
    handle(peer, &msg);
  engine->current = NULL;
  cr_msg_free(&msg);
}

void cr_peer_settle(struct peer *peer, const char *name_space) {
  if (peer->settled || peer->gone) return;
  peer->settled = 1;
  peer->name_space = cr_strdup(name_space);
  cr_alarm_clear(peer->engine->alarms, &peer->grace);
  while (!peer->gone && !cr_list_empty(&peer->held)) {
    struct held *held = cr_list_item(peer->held.next, struct held, link);
    struct cr_msg msg;
    const char *why = NULL;
    if (!cr_msg_decode(&msg, held->text, held->length, &why)) {
      handle(peer, &msg);
      cr_msg_free(&msg);
    }
    cr_list_remove(&held->link);
    free(held);
  }
  peer->held_bytes = 0;
}

// --- the engine ---------------------------------------------------------------------------------------------------

struct cr_engine *cr_engine_create(uv_loop_t *loop, const struct cr_engine_options *options, struct cr_error *err) {
  static const char *const modules[MODULES] = {"configuration", "engine", "state"};
  struct cr_engine *engine = cr_alloc(sizeof *engine);
  engine->loop = loop;
  engine->alarms = cr_alarms_create(loop);
  engine->grace_ms = options->grace_ms ? options->grace_ms : CR_ENGINE_GRACE_MS;
  engine->started_at_ms = cr_engine_clock_ms();
  engine->frame = CR_BUF(FRAME_MAX);
  cr_list_init(&engine->peers);
  cr_list_init(&engine->events);
  for (size_t i = 0; i < MODULES; i++) {
    engine->modules[i].name = modules[i];
    cr_uuid(engine->modules[i].id);
  }
  cr_describe_start(engine);
  cr_workers_start(engine);
  cr_misc_start(engine);
  cr_channels_start(engine);
  cr_events_start(engine);
  if (!cr_state_start(engine, options->state_file, err) &&
      !cr_configuration_start(engine, options->config_dir ? options->config_dir : "config", err))
    return engine;
  cr_engine_free(engine);
  return NULL;
}

void cr_engine_free(struct cr_engine *engine) {
  engine->stopping = 1;
  cr_triggers_free(engine);
  cr_events_free(engine);
  cr_catalogue_free(engine);
  cr_channels_free(engine);
  cr_configuration_free(engine);
  cr_state_free(engine);
  cr_alarms_free(engine->alarms);
  cr_buf_free(&engine->frame);
  free(engine);
}
