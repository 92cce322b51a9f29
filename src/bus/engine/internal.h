// What the parts of the engine share. core.c: peers and their messages; catalogue.c: who owns which id; invoke.c: calls
// and their answers; triggers.c: types and bindings; events.c: firing the engine's own types. Builtin functions:
// describe.c, workers.c, state.c, configuration.c, channels.c, misc.c. Only server.c and channels.c know connections.
#pragma once
#include <yyjson.h>

#include "base/buf.h"
#include "base/list.h"
#include "bus/alarm.h"
#include "bus/engine.h"
#include "bus/hash.h"
#include "bus/message.h"

#define DEFAULT_NAMESPACE "default"

// Bounds: what a peer can make the engine keep.
#define PEERS_MAX 1024
#define HELD_MAX (16u << 20)        // bytes of registrations held back for one peer
#define REGISTERED_MAX (32u << 20)  // bytes of one peer's functions, types and bindings; also of those of no peer
#define CALLS_MAX 65536             // made by one peer and not answered; also: that one peer has not answered
#define EVENTS_MAX (64u << 20)      // bytes of events on their way to handlers
#define FRAME_MAX (80u << 20)       // of one outgoing message

struct cr_engine;
struct invocation;
struct peer;

// --- peers (core.c) -----------------------------------------------------------------------------------------------

struct peer_io {
  int (*send)(void *of, const void *text, size_t length);
  int (*choked)(void *of);  // too much is waiting to be sent to it
  void (*pause)(void *of);  // reading from it
  void (*resume)(void *of);
  void (*end)(void *of, int abruptly);  // with or without a Close; `peer_gone` has been or will be called
};

struct peer {
  struct cr_engine *engine;
  struct cr_list link;
  const struct peer_io *io;
  void *of;
  char id[37], token[37], address[64];
  UT_hash_handle hh;
  uint64_t connected_at_ms;  // since the epoch
  int gone;

  // The metadata call (spec 3.2). `name_space` is fixed once `settled`.
  int settled;
  char *name_space, *name, *runtime, *version, *description, *os, *isolation;
  int64_t pid;  // -1: not given
  int owns_name;
  struct cr_alarm grace;
  struct cr_list held;  // registrations until then
  size_t held_bytes;

  struct cr_list functions, types, bindings;
  size_t registered_bytes;
  struct cr_list calling, executing;  // invocations
  size_t calling_count, executing_count;

  struct cr_list waiters;  // peers that are not read until this one is no longer choked
  struct cr_list waiting;  // link in another's waiters
};

// The connection is open: greets it. NULL when there are too many.
struct peer *cr_peer_create(struct cr_engine *engine, const struct peer_io *io, void *of, const char *address);
void cr_peer_take(struct peer *peer, const char *text, size_t length);
void cr_peer_drained(struct peer *peer);
// The connection is gone: cleans up in the order of spec 3.6 and frees it.
void cr_peer_gone(struct peer *peer);

struct peer *cr_peer_find(struct cr_engine *engine, const char *id);
void cr_peer_settle(struct peer *peer, const char *name_space);
// Sends engine->frame. Holds the peer whose message is being handled back when this one is choked.
void cr_peer_send_frame(struct peer *peer);
struct cr_writer cr_engine_frame(struct cr_engine *engine, const char *type);

// --- functions (catalogue.c) --------------------------------------------------------------------------------------

// `input` is an object; its numbers are raw texts.
typedef void builtin(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input);

struct function {
  struct function_id *group;
  struct function *next;  // same id in another namespace
  struct cr_list link;    // in owner->functions
  struct peer *owner;     // NULL: builtin
  builtin *run;
  char *name_space;
  char *description, *request, *response, *metadata;  // JSON texts but for the first; NULL: none
  int internal;
  size_t bytes;
};

struct function_id {
  char *id;
  struct function *first;  // sorted by namespace
  UT_hash_handle hh;
};

struct function *cr_catalogue_find(struct cr_engine *engine, const char *name_space, const char *id);
struct function_id *cr_catalogue_group(struct cr_engine *engine, const char *id);
void cr_catalogue_register(struct peer *peer, const struct cr_msg *msg);
void cr_catalogue_unregister(struct peer *peer, const char *id);
void cr_catalogue_remove(struct cr_engine *engine, struct function *function);
void cr_builtin_register(struct cr_engine *engine, const char *id, const char *description, builtin *run);
// Name of the owning worker, else the first segment of the id. Into `text`.
const char *cr_catalogue_worker(const struct function *function, char text[512]);
void cr_catalogue_free(struct cr_engine *engine);

// --- calls (invoke.c) ---------------------------------------------------------------------------------------------

// How a call ended: an error when `error` or `code` is set, else a result, or none.
struct outcome {
  yyjson_val *value;  // result, or
  const char *json;   // its text
  size_t length;
  yyjson_val *error;  // an ErrorBody of a peer, or
  const char *code, *message;
};

typedef void invocation_done(void *of, const struct outcome *outcome);

struct invocation {
  struct cr_engine *engine;
  uint8_t key[16];
  char id[37];
  UT_hash_handle hh;  // while `executor`
  struct peer *caller, *executor;
  struct peer *origin;  // as `caller`; valid only while a builtin that was called runs
  int silent;           // nobody waits for the answer
  struct cr_list caller_link, executor_link;
  char *function_id, *traceparent, *baggage;
  invocation_done *done;  // of a call that the engine itself made
  void *of;
  struct cr_alarm alarm;
};

void cr_invoke(struct peer *caller, const struct cr_msg *msg);
void cr_invoke_result(struct peer *executor, const struct cr_msg *msg);
// A call of the engine. `done` comes exactly once, maybe at once, at the latest after 30 s; NULL: nobody asks.
void cr_invoke_internal(struct cr_engine *engine, const char *name_space, const char *function_id, const char *data,
                        size_t length, const char *metadata, invocation_done *done, void *of);
// The peer is gone: its calls end with invocation_stopped, the answers to them go nowhere.
void cr_invocations_stop(struct peer *peer);

// Builtins answer exactly once, at once or later. The invocation is then gone.
void cr_answer(struct invocation *invocation, const struct outcome *outcome);
void cr_answer_none(struct invocation *invocation);
void cr_answer_json(struct invocation *invocation, const char *json, size_t length);
void cr_answer_doc(struct invocation *invocation, yyjson_mut_doc *doc);  // frees it
void cr_answer_error(struct invocation *invocation, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Members of a builtin's input. A required one that is missing or of the wrong type is answered with
// deserialization_error; then the result is NULL and the invocation is gone.
const char *cr_input_text(struct invocation *invocation, yyjson_val *input, const char *name);
yyjson_val *cr_input_any(struct invocation *invocation, yyjson_val *input, const char *name);
const char *cr_optional_text(yyjson_val *input, const char *name);
int cr_optional_true(yyjson_val *input, const char *name);

// --- triggers (triggers.c) ----------------------------------------------------------------------------------------

struct trigger_type {
  char *key;  // namespace NUL id
  size_t key_length;
  char *id, *name_space, *description, *config_format, *payload_format;
  struct peer *owner;                         // NULL: the engine's
  const char *(*refuse)(yyjson_val *config);  // reason why the engine does not take a binding, or NULL
  struct cr_list link;                        // in owner->types
  struct cr_list bindings;
  size_t bytes;
  UT_hash_handle hh;
};

struct binding {
  char *id, *trigger_type, *function_id, *config, *metadata;
  char *name_space;         // of the function
  char *trigger_namespace;  // NULL: not given
  char *registrant_namespace;
  struct peer *registrant;        // NULL: function form (spec 5.5)
  struct trigger_type *provider;  // NULL: parked
  struct cr_list link;            // in registrant->bindings
  struct cr_list provider_link;
  struct invocation *waiting;  // function form: until the provider acknowledges
  struct cr_alarm ack;
  size_t bytes;
  UT_hash_handle hh;
};

void cr_trigger_type_register(struct peer *peer, const struct cr_msg *msg);
void cr_trigger_type_unregister(struct peer *peer, const char *id);
void cr_trigger_type_builtin(struct cr_engine *engine, const char *id, const char *description,
                             const char *(*refuse)(yyjson_val *config));
struct trigger_type *cr_trigger_type_find(struct cr_engine *engine, const char *name_space, const char *id);
void cr_trigger_register(struct peer *peer, const struct cr_msg *msg);
void cr_trigger_unregister(struct cr_engine *engine, const char *id);
void cr_trigger_acknowledged(struct peer *peer, const struct cr_msg *msg);
void cr_triggers_drop(struct peer *peer);
void cr_triggers_free(struct cr_engine *engine);
builtin cr_builtin_register_trigger, cr_builtin_unregister_trigger;

// --- events of the engine's own trigger types (events.c) -----------------------------------------------------------

// Whether a binding with this config wants the event.
typedef int event_match(yyjson_val *config, const void *of);

struct event {
  const char *type;  // trigger type
  const char *payload;
  size_t length;
  event_match *match;  // NULL: all
  const void *of;
  int without_metadata;
};

// Calls the handlers one after the other, later (spec 7.5).
void cr_event_fire(struct cr_engine *engine, const struct event *event);
int cr_event_wanted(struct cr_engine *engine, const char *type);
void cr_event_worker(struct cr_engine *engine, const char *what, const char *worker_id);
void cr_events_start(struct cr_engine *engine);
void cr_events_free(struct cr_engine *engine);

// --- services -----------------------------------------------------------------------------------------------------

void cr_describe_start(struct cr_engine *engine);
void cr_workers_start(struct cr_engine *engine);
void cr_workers_release(struct peer *peer);  // the name
void cr_misc_start(struct cr_engine *engine);

struct state_store;
int cr_state_start(struct cr_engine *engine, const char *file, struct cr_error *err);
void cr_state_free(struct cr_engine *engine);  // writes what is not written yet

struct config_store;
int cr_configuration_start(struct cr_engine *engine, const char *directory, struct cr_error *err);
void cr_configuration_free(struct cr_engine *engine);

struct channel;
struct cr_conn;
void cr_channels_start(struct cr_engine *engine);
// The connection asks for `/ws/channels/<id>`: 0, and it is the channel's from now on, or the HTTP status to refuse
// with.
int cr_channel_request(struct cr_engine *engine, struct cr_conn *conn, const char *id, const char *query);
void cr_channels_free(struct cr_engine *engine);

// --- the engine ---------------------------------------------------------------------------------------------------

struct engine_module {
  const char *name;
  char id[37];
};
#define MODULES 3

struct cr_engine {
  uv_loop_t *loop;
  struct cr_alarms *alarms;
  uint32_t grace_ms;
  int stopping;
  uint64_t started_at_ms;
  struct cr_buf frame;  // being built

  struct cr_list peers;
  struct peer *by_id;
  size_t peer_count;
  struct peer *current;  // whose message is being handled

  struct function_id *functions;
  uint32_t fingerprint;  // of the set of function ids
  struct invocation *invocations;
  struct trigger_type *types;
  struct binding *bindings;
  size_t orphan_bytes;  // bindings of the function form

  struct cr_list events;
  size_t event_bytes;
  uint32_t announced;  // fingerprint that functions-available last told
  struct cr_alarm poll;

  struct worker_name *names;
  struct engine_module modules[MODULES];
  struct state_store *state;
  struct config_store *configuration;
  struct channel *channels;
  struct cr_alarm sweep;
  size_t channel_count;
  struct server *server;
};

// Everything but the listener. For tests and fuzzing, too.
struct cr_engine *cr_engine_create(uv_loop_t *loop, const struct cr_engine_options *options, struct cr_error *err);
void cr_engine_free(struct cr_engine *engine);

uint64_t cr_engine_clock_ms(void);                       // since the epoch
char *cr_copied(const char *text);                       // NULL stays NULL
char *cr_value_text(yyjson_val *value, size_t *length);  // NULL stays NULL
