#include "bus/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "bus/client_internal.h"

#define RETRY_FIRST_MS 1000
#define RETRY_MOST_MS 30000
#define PING_MS 20000
#define SILENCE_MS 60000

static void connect_now(struct cr_bus *bus);
static void try_finish(struct cr_bus *bus);

// min(1 s * 2^attempts, 30 s), +-30 % (spec 3.4).
static uint64_t retry_delay(const struct cr_bus *bus, unsigned attempts) {
  if (bus->retry_ms) return bus->retry_ms;
  uint64_t delay = attempts < 5 ? (uint64_t)RETRY_FIRST_MS << attempts : RETRY_MOST_MS;
  uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = 0;
  return delay * (700 + random % 601) / 1000;
}

static void on_opened(struct cr_conn *conn) {
  struct cr_bus *bus = cr_conn_owner(conn);
  bus->attempts = 0;
  cr_alarm_set(bus->alarms, &bus->heartbeat, PING_MS);
  cr_bus_opened(bus);
}

static void on_message(struct cr_conn *conn, enum cr_opcode opcode, const uint8_t *bytes, size_t length) {
  (void)opcode;
  struct cr_bus *bus = cr_conn_owner(conn);
  cr_bus_take(bus, (const char *)bytes, length);
  // What cannot be answered is not read.
  if (bus->conn && cr_conn_choked(bus->conn)) cr_conn_pause(bus->conn);
}

static void on_drained(struct cr_conn *conn) { cr_conn_resume(conn); }

static void on_closed(struct cr_conn *conn, const char *why) {
  struct cr_bus *bus = cr_conn_owner(conn);
  bus->conn = NULL;
  cr_alarm_clear(bus->alarms, &bus->heartbeat);
  if (bus->closing) {
    try_finish(bus);
    return;
  }
  int failed = bus->state == CR_BUS_FAILED;
  if (!failed) cr_alarm_set(bus->alarms, &bus->retry, retry_delay(bus, bus->attempts++));
  cr_bus_lost(bus, why);
}

static const struct cr_conn_events conn_events = {
    .opened = on_opened, .message = on_message, .drained = on_drained, .closed = on_closed};

static void connect_now(struct cr_bus *bus) {
  cr_bus_state_set(bus, CR_BUS_CONNECTING, NULL);
  bus->conn = cr_conn_connect(bus->loop, &bus->url, &conn_events, bus);
}

static void on_retry(struct cr_alarm *alarm) { connect_now(cr_list_item(alarm, struct cr_bus, retry)); }

static void on_heartbeat(struct cr_alarm *alarm) {
  struct cr_bus *bus = cr_list_item(alarm, struct cr_bus, heartbeat);
  if (!bus->conn) return;
  if (uv_now(bus->loop) - cr_conn_heard(bus->conn) >= SILENCE_MS) {
    cr_conn_abort(bus->conn, "the engine is silent");
    return;
  }
  cr_conn_send(bus->conn, CR_PING, NULL, 0);
  cr_alarm_set(bus->alarms, &bus->heartbeat, PING_MS);
}

static int link_send(void *of, const void *text, size_t length) {
  struct cr_bus *bus = of;
  return bus->conn ? cr_conn_send(bus->conn, CR_TEXT, text, length) : -1;
}

static void link_end(void *of) {
  struct cr_bus *bus = of;
  if (bus->conn) cr_conn_close(bus->conn, 0, NULL);
}

static char *default_name(void) {
  char host[256] = "";
  int unknown = gethostname(host, sizeof host - 1);
  return cr_format("%s:%ld", unknown ? "localhost" : host, (long)getpid());
}

static void on_finish(struct cr_alarm *alarm) {
  struct cr_bus *bus = cr_list_item(alarm, struct cr_bus, finish);
  try_finish(bus);
}

struct cr_bus *cr_bus_create_detached(uv_loop_t *loop, const struct cr_bus_options *options,
                                      const struct cr_bus_events *events, void *of, const struct cr_bus_link *link) {
  struct cr_bus *bus = cr_alloc(sizeof *bus);
  *bus = (struct cr_bus){.loop = loop,
                         .alarms = cr_alarms_create(loop),
                         .link = *link,
                         .of = of,
                         .name = options->name ? cr_strdup(options->name) : default_name(),
                         .name_space = options->name_space ? cr_strdup(options->name_space) : NULL,
                         .version = cr_strdup(options->version ? options->version : CR_VERSION),
                         .description = options->description ? cr_strdup(options->description) : NULL,
                         .frame = CR_BUF(CR_BUS_FRAME_MAX),
                         .retry.ring = on_retry,
                         .heartbeat.ring = on_heartbeat,
                         .finish.ring = on_finish};
  if (events) bus->events = *events;
  cr_list_init(&bus->queue);
  cr_list_init(&bus->serving);
  cr_list_init(&bus->acks);
  return bus;
}

static int blank(const char *text) { return text && text[strspn(text, " \t\r\n")] == 0; }

struct cr_bus *cr_bus_create(uv_loop_t *loop, const struct cr_bus_options *options, const struct cr_bus_events *events,
                             void *of, struct cr_error *err) {
  struct cr_url url;
  if (cr_url_read(&url, options->url ? options->url : CR_BUS_URL, err)) return NULL;
  if (blank(options->name) || blank(options->name_space)) {
    cr_error_set(err, CR_INVALID_REQUEST, "the worker's name and namespace must not be blank");
    return NULL;
  }
  struct cr_bus_link link = {.send = link_send, .end = link_end};
  struct cr_bus *bus = cr_bus_create_detached(loop, options, events, of, &link);
  bus->link.of = bus;
  bus->url = url;
  bus->retry_ms = options->retry_ms;
  cr_alarm_set(bus->alarms, &bus->retry, 0);
  return bus;
}

void cr_bus_destroy(struct cr_bus *bus) {
  cr_bus_serving_stop(bus);
  cr_bus_acks_stop(bus);
  cr_bus_functions_free(bus);
  cr_bus_triggers_free(bus);
  cr_alarms_free(bus->alarms);
  cr_buf_free(&bus->frame);
  free(bus->name);
  free(bus->name_space);
  free(bus->version);
  free(bus->description);
  free(bus);
}

// Ends when the connection is gone and every call has been told.
static void try_finish(struct cr_bus *bus) {
  if (bus->conn) return;
  if (bus->calls) {
    cr_alarm_set(bus->alarms, &bus->finish, 0);
    return;
  }
  void (*closed)(void *of) = bus->closed;
  void *of = bus->closed_of;
  cr_bus_destroy(bus);
  if (closed) closed(of);
}

void cr_bus_close(struct cr_bus *bus, void (*closed)(void *of), void *of) {
  if (bus->closing) return;
  bus->closed = closed;
  bus->closed_of = of;
  cr_bus_serving_stop(bus);
  cr_bus_acks_stop(bus);
  bus->closing = 1;
  bus->linked = 0;
  cr_alarm_clear(bus->alarms, &bus->retry);
  cr_alarm_clear(bus->alarms, &bus->heartbeat);
  cr_bus_calls_fail(bus, 1, CR_BUS_STOPPED, "the connection to the engine was closed");
  if (bus->conn) cr_conn_close(bus->conn, 0, NULL);
  cr_alarm_set(bus->alarms, &bus->finish, 0);
}

enum cr_bus_state cr_bus_state(const struct cr_bus *bus) { return bus->state; }

const char *cr_bus_worker_id(const struct cr_bus *bus) { return bus->worker_id; }

uv_loop_t *cr_bus_loop(const struct cr_bus *bus) { return bus->loop; }

size_t cr_bus_backlog(const struct cr_bus *bus) {
  return bus->queue_bytes + (bus->conn ? cr_conn_queued(bus->conn) : 0);
}
