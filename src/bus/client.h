// A worker's connection to an iii engine (spec 2 to 5, checks 12.1): one thread, one libuv loop. Everything registered
// is remembered and announced again after each reconnect; calls made while the engine is away wait in a bounded queue.
// No callback is called from inside a function of this header, except a handler's own replies' consequences.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/err.h"

#define CR_BUS_URL "ws://127.0.0.1:49134"
#define CR_BUS_TIMEOUT_MS 30000
#define CR_BUS_FRAME_MAX ((16u << 20) - 64)  // of one outgoing message (spec 1); a longer one is CR_BUS_TOO_LARGE
#define CR_BUS_QUEUE_MAX (16u << 20)  // bytes waiting while there is no connection; more fails with CR_BUS_QUEUE_FULL
#define CR_BUS_SERVING_MAX 65536      // invocations taken and not answered yet; more are refused

// Codes that the client itself makes. Everything else comes from the engine or another worker.
#define CR_BUS_TIMED_OUT "TIMEOUT"
#define CR_BUS_STOPPED "invocation_stopped"  // the connection was lost, or the client was closed
#define CR_BUS_TOO_LARGE "message_too_large"
#define CR_BUS_QUEUE_FULL "queue_full"
#define CR_BUS_OVERLOADED "overloaded"

struct cr_bus;

enum cr_bus_state {
  CR_BUS_CONNECTING,
  CR_BUS_CONNECTED,  // metadata and registrations are on their way
  CR_BUS_WAITING,    // for the next attempt
  CR_BUS_FAILED,     // the engine refused this worker; no further attempt
};

struct cr_bus_options {
  const char *url;          // NULL: CR_BUS_URL
  const char *name;         // worker name; NULL: host name and pid
  const char *name_space;   // of this worker; NULL: none is sent
  const char *version;      // NULL: this program's
  const char *description;  // NULL: none
  uint32_t retry_ms;        // between attempts to connect; 0: 1 s, doubled up to 30 s, +-30 % (spec 3.4)
};

struct cr_bus_conflict {
  const char *code;  // FUNCTION_NAMESPACE_CONFLICT, WORKER_NAMESPACE_CONFLICT, …
  const char *name_space;
  const char *function_id;  // or NULL
  const char *worker_name;  // or NULL
  const char *owner_worker_id;
};

// Each may be NULL. Texts are valid during the call only.
struct cr_bus_events {
  void (*state)(void *of, enum cr_bus_state state, const char *why);
  // Another worker owns a function id (it stays registered here and is tried again at the next reconnect), or the name
  // of this worker: then CR_BUS_FAILED follows.
  void (*conflict)(void *of, const struct cr_bus_conflict *conflict);
  // A provider or the engine refused a trigger of ours.
  void (*trigger_refused)(void *of, const char *id, const char *trigger_type, const char *code, const char *message);
};

// Starts connecting, and goes on trying. NULL and `err` when the url or the name is unusable.
struct cr_bus *cr_bus_create(uv_loop_t *loop, const struct cr_bus_options *options, const struct cr_bus_events *events,
                             void *of, struct cr_error *err);

// Graceful: calls fail with CR_BUS_STOPPED, then Close. `closed` (may be NULL) is the last that is called; invocations
// not answered yet stay valid until they are, and their answers go nowhere.
void cr_bus_close(struct cr_bus *bus, void (*closed)(void *of), void *of);

enum cr_bus_state cr_bus_state(const struct cr_bus *bus);
uv_loop_t *cr_bus_loop(const struct cr_bus *bus);
// Id the engine gave at the last connect, "" before.
const char *cr_bus_worker_id(const struct cr_bus *bus);
// Bytes that wait to be sent, queued calls included: what to hold producers back by.
size_t cr_bus_backlog(const struct cr_bus *bus);

// --- serving ------------------------------------------------------------------------------------------------------

// JSON texts and texts are copied by what takes them.
struct cr_bus_function {
  const char *id;
  const char *description;      // NULL: none
  const char *request_format;   // JSON text, or NULL
  const char *response_format;  // JSON text, or NULL
  const char *metadata;         // JSON text, or NULL
};

// One call that came in. Everything in it lives until it is answered.
struct cr_bus_invocation {
  const char *function_id;
  const char *payload;  // JSON text, NUL behind it
  size_t payload_length;
  const char *metadata;  // JSON text, or NULL
  size_t metadata_length;
  const char *traceparent, *baggage;  // or NULL
};

typedef void cr_bus_handler(void *of, struct cr_bus_invocation *invocation);

// Registers or replaces. -1 and `err` when the announcement cannot fit a frame.
int cr_bus_register(struct cr_bus *bus, const struct cr_bus_function *function, cr_bus_handler *handler, void *of,
                    struct cr_error *err);
// Whether it was registered. Invocations that are under way go on.
int cr_bus_unregister(struct cr_bus *bus, const char *id);

// Exactly one of these for each invocation, at any later time, or at once from the handler. `json` NULL: no result.
// An answer that fits no frame becomes an error CR_BUS_TOO_LARGE.
void cr_bus_reply(struct cr_bus_invocation *invocation, const char *json, size_t length);
void cr_bus_reply_error(struct cr_bus_invocation *invocation, const char *code, const char *message);

// --- calling ------------------------------------------------------------------------------------------------------

struct cr_bus_failure {
  const char *code;
  const char *message;
  const char *stacktrace;  // or NULL
};

// The result's JSON text (NUL behind it), or NULL when there is none; or `failure`. Valid during the call.
typedef void cr_bus_answer(void *of, const char *result, size_t length, const struct cr_bus_failure *failure);

struct cr_bus_request {
  const char *function_id;
  const char *payload;  // JSON text
  size_t payload_length;
  const char *metadata;    // JSON text, or NULL
  const char *action;      // JSON text ({"type":"void"}, {"type":"enqueue","queue":…}), or NULL for a plain call
  const char *name_space;  // NULL: `default` for engine::*, else the worker's own if it has one
  const char *traceparent, *baggage;
  uint64_t timeout_ms;  // 0: CR_BUS_TIMEOUT_MS
};

// `answer` is called exactly once, later; for a void call as soon as the frame is on its way, without a result. The
// number returned cancels it.
uint64_t cr_bus_call(struct cr_bus *bus, const struct cr_bus_request *request, cr_bus_answer *answer, void *of);
// The answer will not be called. The callee is not told: the bus has no message for that. Unknown numbers are ignored.
void cr_bus_cancel(struct cr_bus *bus, uint64_t number);

// --- triggers -----------------------------------------------------------------------------------------------------

struct cr_bus_trigger {
  const char *id;  // NULL: a new one
  const char *trigger_type;
  const char *function_id;
  const char *config;             // JSON text; NULL: null
  const char *metadata;           // JSON text, or NULL
  const char *name_space;         // of the function; NULL: the worker's own if it has one
  const char *trigger_namespace;  // of the provider, or NULL
};

// Binds (or rebinds) and copies the id into `id` if that is not NULL. -1 and `err` as above.
int cr_bus_bind(struct cr_bus *bus, const struct cr_bus_trigger *trigger, char id[37], struct cr_error *err);
int cr_bus_unbind(struct cr_bus *bus, const char *id);

struct cr_bus_trigger_type {
  const char *id;
  const char *description;
  const char *config_format;   // JSON text, or NULL
  const char *payload_format;  // JSON text, or NULL
};

// A binding to a trigger type of ours. Valid during the call.
struct cr_bus_binding {
  const char *id, *trigger_type, *function_id;
  const char *config;  // JSON text
  size_t config_length;
  const char *metadata;  // JSON text, or NULL
  size_t metadata_length;
  const char *name_space;  // of the function; NULL: default
};

struct cr_bus_ack;

struct cr_bus_provider {
  // An upsert by id: it comes again after a reconnect. To be acknowledged exactly once, later or at once.
  void (*bound)(void *of, const struct cr_bus_binding *binding, struct cr_bus_ack *ack);
  void (*unbound)(void *of, const char *id, const char *trigger_type);
};

int cr_bus_provide(struct cr_bus *bus, const struct cr_bus_trigger_type *type, const struct cr_bus_provider *provider,
                   void *of, struct cr_error *err);
// The engine forgets a type only with the connection (spec 2.1): until then bindings to it are refused here.
int cr_bus_withdraw(struct cr_bus *bus, const char *id);

// `code` NULL: bound. Otherwise refused, for the reason in `message`.
void cr_bus_acknowledge(struct cr_bus_ack *ack, const char *code, const char *message);
