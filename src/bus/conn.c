#include "bus/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

#define READ_BYTES (64u << 10)
#define KEEP_BYTES (1u << 20)  // storage of an output buffer that is kept

enum state { CONNECTING, SHAKING, OPEN, CLOSING, LINGERING, GONE };

struct cr_conn {
  uv_tcp_t *tcp;         // NULL: none yet, or being closed
  uv_timer_t timer;      // handshake, stall, close
  uv_prepare_t prepare;  // sends once per turn of the loop what the turn produced
  uv_connect_t connect;
  uv_write_t write;
  uv_shutdown_t shutdown;
  uv_getaddrinfo_t resolve;
  const struct cr_conn_events *events;
  void *of;
  enum state state;
  int refs;  // handles and requests that point here
  int client, paused, choked, writing;
  uint64_t heard;
  size_t progress;  // cr_conn_queued when the timer last looked
  struct cr_frames *frames;
  struct cr_buf head;    // the handshake coming in
  struct cr_buf out;     // to be sent
  struct cr_buf flying;  // given to the kernel
  char key[CR_KEY_SIZE];
  struct cr_url url;
  struct addrinfo *addresses, *address;
  const char *why;
};

static const struct cr_conn_events deaf_events;

static void release(struct cr_conn *conn) {
  if (--conn->refs) return;
  if (conn->events->closed) conn->events->closed(conn, conn->why ? conn->why : "closed");
  cr_frames_free(conn->frames);
  cr_buf_free(&conn->head);
  cr_buf_free(&conn->out);
  cr_buf_free(&conn->flying);
  uv_freeaddrinfo(conn->addresses);
  free(conn);
}

static void on_handle_closed(uv_handle_t *handle) { release(handle->data); }

static void on_tcp_closed(uv_handle_t *handle) {
  release(handle->data);
  free(handle);
}

static void tcp_close(struct cr_conn *conn) {
  if (conn->tcp) uv_close((uv_handle_t *)conn->tcp, on_tcp_closed);
  conn->tcp = NULL;
}

static void destroy(struct cr_conn *conn, const char *why) {
  if (conn->state == GONE) return;
  conn->state = GONE;
  if (!conn->why) conn->why = why;
  if (conn->frames) cr_frames_deafen(conn->frames);
  uv_cancel((uv_req_t *)&conn->resolve);
  tcp_close(conn);
  uv_close((uv_handle_t *)&conn->timer, on_handle_closed);
  uv_close((uv_handle_t *)&conn->prepare, on_handle_closed);
}

// --- output -------------------------------------------------------------------------------------------------------

static void on_timer(uv_timer_t *timer);
static void flush(struct cr_conn *conn);
static void flush_soon(struct cr_conn *conn);

static void timer_set(struct cr_conn *conn, uint64_t after) {
  conn->progress = cr_conn_queued(conn);
  uv_timer_start(&conn->timer, on_timer, after, 0);
}

static void on_shutdown(uv_shutdown_t *request, int status) {
  (void)status;
  release(request->data);
}

// Everything is sent: end our half, and wait for the peer's, so that the kernel does not throw away what it has not
// read.
static void half_close(struct cr_conn *conn) {
  if (conn->state != LINGERING || conn->shutdown.data) return;
  conn->shutdown.data = conn;
  conn->refs++;
  if (!uv_shutdown(&conn->shutdown, (uv_stream_t *)conn->tcp, on_shutdown)) return;
  conn->refs--;
  destroy(conn, "closed");
}

static void linger(struct cr_conn *conn, const char *why) {
  if (conn->state >= LINGERING) return;
  conn->state = LINGERING;
  conn->why = why;
  if (conn->frames) cr_frames_deafen(conn->frames);
  timer_set(conn, CR_CONN_CLOSE_MS);
  cr_conn_resume(conn);
  flush_soon(conn);
}

static void storage_trim(struct cr_buf *buf) {
  buf->len = 0;
  if (buf->cap > KEEP_BYTES) cr_buf_free(buf);
}

// A server may be waiting for a third party that does not read, which it gives up first.
static uint64_t stall_limit(const struct cr_conn *conn) { return CR_CONN_STALL_MS * (conn->client ? 2 : 1); }

static void choke_update(struct cr_conn *conn) {
  size_t queued = cr_conn_queued(conn);
  if (!conn->choked && queued > CR_CONN_CHOKED) {
    conn->choked = 1;
    if (conn->state == OPEN) timer_set(conn, stall_limit(conn));
  } else if (conn->choked && queued <= CR_CONN_CHOKED / 2) {
    conn->choked = 0;
    if (conn->state == OPEN) uv_timer_stop(&conn->timer);
    if (conn->events->drained) conn->events->drained(conn);
  }
}

static void on_written(uv_write_t *request, int status) {
  struct cr_conn *conn = request->data;
  conn->writing = 0;
  storage_trim(&conn->flying);
  if (status < 0)
    destroy(conn, uv_strerror(status));
  else
    flush(conn);
  release(conn);
}

static void write_rest(struct cr_conn *conn, size_t from) {
  struct cr_buf spare = conn->flying;
  conn->flying = conn->out;
  conn->out = spare;
  conn->writing = 1;
  conn->refs++;
  conn->write.data = conn;
  uv_buf_t rest = uv_buf_init((char *)conn->flying.data + from, (unsigned)(conn->flying.len - from));
  int error = uv_write(&conn->write, (uv_stream_t *)conn->tcp, &rest, 1, on_written);
  if (!error) return;
  conn->writing = 0;
  conn->refs--;
  destroy(conn, uv_strerror(error));
}

static void flush(struct cr_conn *conn) {
  uv_prepare_stop(&conn->prepare);
  if (conn->state == GONE || conn->writing) return;
  if (conn->out.len) {
    uv_buf_t all = uv_buf_init((char *)conn->out.data, (unsigned)conn->out.len);
    int sent = uv_try_write((uv_stream_t *)conn->tcp, &all, 1);
    if (sent < 0 && sent != UV_EAGAIN) {
      destroy(conn, uv_strerror(sent));
      return;
    }
    if (sent == (int)conn->out.len)
      storage_trim(&conn->out);
    else
      write_rest(conn, sent < 0 ? 0 : (size_t)sent);
  }
  if (!conn->writing) half_close(conn);
  if (conn->state != GONE) choke_update(conn);
}

static void on_prepare(uv_prepare_t *prepare) { flush(prepare->data); }

static void flush_soon(struct cr_conn *conn) {
  if (!conn->writing && conn->state != GONE) uv_prepare_start(&conn->prepare, on_prepare);
}

static void on_timer(uv_timer_t *timer) {
  struct cr_conn *conn = timer->data;
  if (conn->state >= OPEN && cr_conn_queued(conn) < conn->progress)
    timer_set(conn, conn->state == OPEN ? stall_limit(conn) : CR_CONN_CLOSE_MS);
  else
    destroy(conn, conn->state == OPEN  ? "the peer does not read"
                  : conn->state < OPEN ? "no handshake in time"
                                       : "closed");
}

// --- input --------------------------------------------------------------------------------------------------------

static void on_frames_message(void *of, enum cr_opcode opcode, const uint8_t *bytes, size_t length) {
  struct cr_conn *conn = of;
  if (conn->state == OPEN && conn->events->message) conn->events->message(conn, opcode, bytes, length);
}

static void open_frames(struct cr_conn *conn) {
  struct cr_frames_options options = {
      .client = conn->client,
      .frame_max = conn->client ? CR_MESSAGE_BYTES_MAX : CR_FRAME_BYTES_MAX,
      .out = &conn->out,
      .message = on_frames_message,
      .of = conn,
  };
  conn->frames = cr_frames_create(&options);
  conn->state = OPEN;
  uv_timer_stop(&conn->timer);
  cr_buf_free(&conn->head);
  if (conn->events->opened) conn->events->opened(conn);
}

static void feed(struct cr_conn *conn, const uint8_t *bytes, size_t length) {
  int result = cr_frames_feed(conn->frames, bytes, length);
  if (conn->state == GONE) return;
  if (result < 0)
    destroy(conn, "protocol error");
  else if (result > 0)
    linger(conn, cr_frames_close_status(conn->frames) ? "closed by the peer" : "protocol error");
  else if (conn->out.len)
    flush_soon(conn);
}

static void refuse(struct cr_conn *conn, int status) {
  if (cr_handshake_refuse(&conn->out, status)) {
    destroy(conn, "out of memory");
    return;
  }
  linger(conn, "handshake refused");
}

// Bytes of the head, or 0 when the connection is not open after this.
static size_t shake_as_server(struct cr_conn *conn) {
  struct cr_handshake_request request;
  ssize_t used = cr_handshake_request_read(&request, (const char *)conn->head.data, conn->head.len);
  if (!used) return 0;
  int status = used < 0 ? (int)-used : conn->events->request ? conn->events->request(conn, &request) : 404;
  if (!status && !request.upgrade) status = 426;
  if (status || cr_handshake_response_write(&conn->out, request.key)) {
    refuse(conn, status ? status : 503);
    return 0;
  }
  flush_soon(conn);
  return (size_t)used;
}

static size_t shake_as_client(struct cr_conn *conn) {
  int status = 0;
  ssize_t used = cr_handshake_response_read((const char *)conn->head.data, conn->head.len, conn->key, &status);
  if (used < 0) destroy(conn, status ? "the server refuses the WebSocket" : "the server does not speak WebSocket");
  return used > 0 ? (size_t)used : 0;
}

static void shake(struct cr_conn *conn, const uint8_t *bytes, size_t length) {
  if (cr_buf_append(&conn->head, bytes, length)) {
    destroy(conn, "out of memory");
    return;
  }
  size_t used = conn->client ? shake_as_client(conn) : shake_as_server(conn);
  if (!used || conn->state != SHAKING) return;
  struct cr_buf head = conn->head;
  conn->head = CR_BUF(0);
  open_frames(conn);
  if (head.len > used && conn->state != GONE) feed(conn, head.data + used, head.len - used);
  cr_buf_free(&head);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
  static _Thread_local char bytes[READ_BYTES];
  (void)handle, (void)suggested;
  *buf = uv_buf_init(bytes, sizeof bytes);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buf) {
  struct cr_conn *conn = stream->data;
  if (count < 0) {
    destroy(conn, count == UV_EOF ? "the peer hung up" : uv_strerror((int)count));
    return;
  }
  if (!count) return;
  conn->heard = uv_now(stream->loop);
  if (conn->state == SHAKING)
    shake(conn, (uint8_t *)buf->base, (size_t)count);
  else if (conn->state == OPEN || conn->state == CLOSING)
    feed(conn, (uint8_t *)buf->base, (size_t)count);
}

static int read_start(struct cr_conn *conn) { return uv_read_start((uv_stream_t *)conn->tcp, on_alloc, on_read); }

// --- making one ---------------------------------------------------------------------------------------------------

static struct cr_conn *create(uv_loop_t *loop, const struct cr_conn_events *events, void *of) {
  struct cr_conn *conn = cr_alloc(sizeof *conn);
  conn->events = events;
  conn->of = of;
  conn->head = CR_BUF(CR_HANDSHAKE_MAX + READ_BYTES);
  conn->out = conn->flying = CR_BUF(CR_CONN_FULL);
  uv_timer_init(loop, &conn->timer);
  uv_prepare_init(loop, &conn->prepare);
  conn->timer.data = conn->prepare.data = conn->connect.data = conn->resolve.data = conn;
  conn->refs = 2;
  conn->heard = uv_now(loop);
  uv_timer_start(&conn->timer, on_timer, CR_CONN_HANDSHAKE_MS, 0);
  return conn;
}

static int tcp_open(struct cr_conn *conn) {
  conn->tcp = cr_alloc(sizeof *conn->tcp);
  int error = uv_tcp_init(conn->timer.loop, conn->tcp);
  if (error) {
    free(conn->tcp);
    conn->tcp = NULL;
    return error;
  }
  conn->tcp->data = conn;
  conn->refs++;
  return 0;
}

struct cr_conn *cr_conn_accept(uv_stream_t *server, const struct cr_conn_events *events, void *of) {
  struct cr_conn *conn = create(server->loop, events, of);
  conn->state = SHAKING;
  int error = tcp_open(conn);
  if (!error) error = uv_accept(server, (uv_stream_t *)conn->tcp);
  if (!error) error = uv_tcp_nodelay(conn->tcp, 1);
  if (!error) error = read_start(conn);
  if (!error) return conn;
  cr_log(CR_LOG_WARN, "bus: a connection cannot be accepted: %s", uv_strerror(error));
  conn->events = &deaf_events;
  destroy(conn, "not accepted");
  return NULL;
}

static void try_address(struct cr_conn *conn);

static void on_connected(uv_connect_t *request, int status) {
  struct cr_conn *conn = request->data;
  if (conn->state == CONNECTING && status < 0) {
    tcp_close(conn);
    conn->why = uv_strerror(status);
    conn->address = conn->address->ai_next;
    try_address(conn);
  } else if (conn->state == CONNECTING) {
    conn->why = NULL;
    conn->state = SHAKING;
    cr_handshake_key(conn->key);
    uv_tcp_nodelay(conn->tcp, 1);
    if (cr_handshake_request_write(&conn->out, conn->url.authority, conn->url.target, conn->key) || read_start(conn))
      destroy(conn, "out of memory");
    else
      flush(conn);
  }
  release(conn);
}

static void try_address(struct cr_conn *conn) {
  for (; conn->address; conn->address = conn->address->ai_next) {
    int error = tcp_open(conn);
    conn->refs++;
    if (!error) error = uv_tcp_connect(&conn->connect, conn->tcp, conn->address->ai_addr, on_connected);
    if (!error) return;
    conn->refs--;
    conn->why = uv_strerror(error);
    tcp_close(conn);
  }
  destroy(conn, "no address");
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses) {
  struct cr_conn *conn = request->data;
  conn->addresses = conn->address = addresses;
  if (conn->state == CONNECTING && status < 0)
    destroy(conn, uv_strerror(status));
  else if (conn->state == CONNECTING)
    try_address(conn);
  release(conn);
}

struct cr_conn *cr_conn_connect(uv_loop_t *loop, const struct cr_url *url, const struct cr_conn_events *events,
                                void *of) {
  struct cr_conn *conn = create(loop, events, of);
  conn->client = 1;
  conn->url = *url;
  char port[6];
  snprintf(port, sizeof port, "%u", url->port);
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
  // A numeric address needs no resolver thread.
  if (!getaddrinfo(url->host, port, &hints, &conn->addresses)) {
    conn->address = conn->addresses;
    try_address(conn);
    return conn;
  }
  hints.ai_flags = 0;
  conn->refs++;
  int error = uv_getaddrinfo(loop, &conn->resolve, on_resolved, url->host, port, &hints);
  if (!error) return conn;
  conn->refs--;
  destroy(conn, uv_strerror(error));
  return conn;
}

// --- what the owner does ------------------------------------------------------------------------------------------

void *cr_conn_owner(const struct cr_conn *conn) { return conn->of; }

void cr_conn_set_owner(struct cr_conn *conn, const struct cr_conn_events *events, void *of) {
  conn->events = events;
  conn->of = of;
}

int cr_conn_send(struct cr_conn *conn, enum cr_opcode opcode, const void *bytes, size_t length) {
  if (conn->state != OPEN) return -1;
  if (cr_frames_send(conn->frames, opcode, bytes, length)) {
    destroy(conn, "too much is waiting to be sent");
    return -1;
  }
  if (cr_conn_queued(conn) > CR_CONN_CHOKED) choke_update(conn);
  flush_soon(conn);
  return 0;
}

int cr_conn_choked(const struct cr_conn *conn) { return conn->choked; }

size_t cr_conn_queued(const struct cr_conn *conn) {
  return conn->out.len + (conn->tcp ? uv_stream_get_write_queue_size((const uv_stream_t *)conn->tcp) : 0);
}

void cr_conn_pause(struct cr_conn *conn) {
  if (conn->state != OPEN || conn->paused) return;
  conn->paused = 1;
  uv_read_stop((uv_stream_t *)conn->tcp);
}

void cr_conn_resume(struct cr_conn *conn) {
  if (!conn->paused || conn->state == GONE) return;
  conn->paused = 0;
  if (read_start(conn)) destroy(conn, "cannot read");
}

uint64_t cr_conn_heard(const struct cr_conn *conn) { return conn->heard; }

void cr_conn_peer_address(const struct cr_conn *conn, char *text, size_t size) {
  struct sockaddr_storage address;
  int length = sizeof address;
  text[0] = 0;
  if (conn->tcp && !uv_tcp_getpeername(conn->tcp, (struct sockaddr *)&address, &length))
    uv_ip_name((const struct sockaddr *)&address, text, size);
}

void cr_conn_close(struct cr_conn *conn, uint16_t status, const char *reason) {
  if (conn->state < OPEN) {
    destroy(conn, "closed");
    return;
  }
  if (conn->state != OPEN) return;
  cr_conn_resume(conn);
  if (conn->state != OPEN) return;
  conn->state = CLOSING;
  cr_frames_deafen(conn->frames);
  timer_set(conn, CR_CONN_CLOSE_MS);
  if (cr_frames_close(conn->frames, status, reason))
    destroy(conn, "too much is waiting to be sent");
  else
    flush_soon(conn);
}

void cr_conn_abort(struct cr_conn *conn, const char *why) { destroy(conn, why); }

void cr_conn_abandon(struct cr_conn *conn) {
  conn->events = &deaf_events;
  conn->of = NULL;
  if (conn->state < CLOSING) cr_conn_close(conn, 0, NULL);
}
