// What the parts of the client share: client.c (transport), client_session.c (messages), client_calls.c,
// client_serve.c, client_triggers.c. Everything but client.c works without a socket, through `link`.
#pragma once
#include "base/buf.h"
#include "base/list.h"
#include "bus/alarm.h"
#include "bus/client.h"
#include "bus/conn.h"
#include "bus/hash.h"
#include "bus/message.h"

struct cr_bus_link {
  int (*send)(void *of, const void *text, size_t length);  // -1: gone, the loss is reported later
  void (*end)(void *of);                                   // of the connection, after a fatal refusal
  void *of;
};

// A registration as it goes out, again after each reconnect.
struct announcement {
  char *frame;
  size_t length;
};

struct served_function {
  char *id;
  struct announcement announcement;
  cr_bus_handler *handler;
  void *of;
  UT_hash_handle hh;
};

struct own_trigger {
  char *id;
  struct announcement announcement;
  UT_hash_handle hh;
};

struct own_type {
  char *id;
  struct announcement announcement;
  struct cr_bus_provider provider;
  void *of;
  UT_hash_handle hh;
};

// A binding of others to a type of ours: `unregistertrigger` need not name the type.
struct bound {
  char *id;
  char *trigger_type;
  UT_hash_handle hh;
};

struct call;

struct cr_bus {
  uv_loop_t *loop;
  struct cr_alarms *alarms;
  struct cr_bus_link link;
  struct cr_bus_events events;
  void *of;
  char *name, *name_space, *version, *description;
  enum cr_bus_state state;
  int linked;  // frames can be sent

  struct served_function *functions;
  struct own_type *types;
  struct own_trigger *triggers;
  struct bound *bindings;

  struct call *calls;      // by invocation id
  struct call *by_number;  // the same, by number
  uint64_t last_number;
  struct cr_list queue;  // calls that wait for a connection
  size_t queue_bytes;

  struct cr_list serving;  // invocations not answered
  size_t serving_count;
  struct cr_list acks;

  struct cr_buf frame;  // being built
  char worker_id[64], token[128];

  // client.c
  struct cr_url url;
  struct cr_conn *conn;
  unsigned attempts;
  uint32_t retry_ms;
  struct cr_alarm retry, heartbeat, finish;
  int closing;
  void (*closed)(void *of);
  void *closed_of;
};

// Without a transport: nothing connects, the caller plays the connection. Freed by cr_bus_destroy.
struct cr_bus *cr_bus_create_detached(uv_loop_t *loop, const struct cr_bus_options *options,
                                      const struct cr_bus_events *events, void *of, const struct cr_bus_link *link);
void cr_bus_destroy(struct cr_bus *bus);

// The connection opened (announces everything), was lost, or delivered a message.
void cr_bus_opened(struct cr_bus *bus);
void cr_bus_lost(struct cr_bus *bus, const char *why);
void cr_bus_take(struct cr_bus *bus, const char *text, size_t length);

void cr_bus_state_set(struct cr_bus *bus, enum cr_bus_state state, const char *why);

// A frame: begin, write members, then send it, or keep it as an announcement. -1 when it is too long (or cannot be
// sent); `err`, if any, says so.
struct cr_writer cr_bus_frame(struct cr_bus *bus, const char *type);
int cr_bus_frame_send(struct cr_bus *bus, struct cr_writer *writer);
int cr_bus_frame_keep(struct cr_bus *bus, struct cr_writer *writer, struct announcement *announcement,
                      struct cr_error *err);
void cr_bus_announce(struct cr_bus *bus, const struct announcement *announcement);

void cr_bus_calls_flush(struct cr_bus *bus);  // sends what was queued
void cr_bus_calls_result(struct cr_bus *bus, const struct cr_msg *msg);
// Those on the wire, or with `queued` all of them.
void cr_bus_calls_fail(struct cr_bus *bus, int queued, const char *code, const char *message);

void cr_bus_serve(struct cr_bus *bus, const struct cr_msg *msg);
// Answers what is open with an error, if there is a connection, and forgets it.
void cr_bus_serving_stop(struct cr_bus *bus);
void cr_bus_functions_free(struct cr_bus *bus);

void cr_bus_trigger_bound(struct cr_bus *bus, const struct cr_msg *msg);
void cr_bus_trigger_unbound(struct cr_bus *bus, const struct cr_msg *msg);
void cr_bus_acks_stop(struct cr_bus *bus);
void cr_bus_triggers_free(struct cr_bus *bus);
