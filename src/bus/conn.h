// One WebSocket connection over TCP on a libuv loop, either end. Loop thread only. The owner talks to it until
// `closed`, which comes exactly once, or until cr_conn_abandon; the connection frees itself after either.
#pragma once
#include <uv.h>

#include "bus/frames.h"
#include "bus/handshake.h"
#include "bus/url.h"

#define CR_CONN_HANDSHAKE_MS 10000
#define CR_CONN_CLOSE_MS 2000   // without progress: Close not answered, or TCP not ended
#define CR_CONN_STALL_MS 15000  // a choked peer that reads nothing; twice as long for the peer that is a server
// Bytes waiting to be sent: over CHOKED, cr_conn_choked tells the owner to stop what produces them; over FULL the
// connection is given up.
#define CR_CONN_CHOKED (4u << 20)
#define CR_CONN_FULL (192u << 20)

struct cr_conn;

struct cr_conn_events {
  // Server: 0 accepts the upgrade, an HTTP status refuses it. An `upgrade` of 0 is refused by the connection itself.
  int (*request)(struct cr_conn *conn, const struct cr_handshake_request *request);
  void (*opened)(struct cr_conn *conn);
  void (*message)(struct cr_conn *conn, enum cr_opcode opcode, const uint8_t *bytes, size_t length);
  void (*drained)(struct cr_conn *conn);  // no longer choked
  // Also when it never opened. `why` is for the log.
  void (*closed)(struct cr_conn *conn, const char *why);
};

// NULL when the connection cannot be accepted (the error is logged) or has gone already.
struct cr_conn *cr_conn_accept(uv_stream_t *server, const struct cr_conn_events *events, void *of);
struct cr_conn *cr_conn_connect(uv_loop_t *loop, const struct cr_url *url, const struct cr_conn_events *events,
                                void *of);

void *cr_conn_owner(const struct cr_conn *conn);
void cr_conn_set_owner(struct cr_conn *conn, const struct cr_conn_events *events, void *of);

// One message, or a ping. Goes out before the loop sleeps next. -1 when it is not open (any more).
int cr_conn_send(struct cr_conn *conn, enum cr_opcode opcode, const void *bytes, size_t length);
int cr_conn_choked(const struct cr_conn *conn);
size_t cr_conn_queued(const struct cr_conn *conn);

// Stops and goes on reading; messages already read may still come.
void cr_conn_pause(struct cr_conn *conn);
void cr_conn_resume(struct cr_conn *conn);

// uv_now when the last bytes came in.
uint64_t cr_conn_heard(const struct cr_conn *conn);
// "127.0.0.1" of the peer, or "".
void cr_conn_peer_address(const struct cr_conn *conn, char *text, size_t size);

// Close handshake; no message is delivered any more. `status` 0 sends none.
void cr_conn_close(struct cr_conn *conn, uint16_t status, const char *reason);
// Ends TCP at once.
void cr_conn_abort(struct cr_conn *conn, const char *why);
// No event is delivered any more, not even `closed`; what is queued and the close handshake go on by themselves.
void cr_conn_abandon(struct cr_conn *conn);
