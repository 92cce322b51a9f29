// The engine's listener: connections become peers, telemetry sinks or ends of channels.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "bus/conn.h"
#include "bus/engine/internal.h"

#define CONNECTIONS_MAX 4096
#define BACKLOG 511

struct server {
  uv_tcp_t listener;
  struct cr_engine *engine;
  struct cr_list links;
  size_t count;
  int any_origin;
  int listener_closed;
  int port;
  char *url;
  void (*stopped)(void *of);
  void *of;
};

// One connection. A channel's leaves it for the channel's own record.
struct link {
  struct cr_list list;
  struct server *server;
  struct cr_conn *conn;
  struct peer *peer;  // NULL: telemetry, or not open yet
  int telemetry;
};

static void try_finish(struct server *server);

// --- what the core does with a peer -------------------------------------------------------------------------------

static int peer_send(void *of, const void *text, size_t length) {
  return cr_conn_send(((struct link *)of)->conn, CR_TEXT, text, length);
}

static int peer_choked(void *of) { return cr_conn_choked(((struct link *)of)->conn); }
static void peer_pause(void *of) { cr_conn_pause(((struct link *)of)->conn); }
static void peer_resume(void *of) { cr_conn_resume(((struct link *)of)->conn); }

static void peer_end(void *of, int abruptly) {
  struct link *link = of;
  if (abruptly)
    cr_conn_abort(link->conn, "ended by the engine");
  else
    cr_conn_close(link->conn, 1008, NULL);
}

static const struct peer_io peer_io = {peer_send, peer_choked, peer_pause, peer_resume, peer_end};

// --- connections --------------------------------------------------------------------------------------------------

static int is_local_host(const char *host, size_t length) {
  static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == length && !strncasecmp(names[i], host, length)) return 1;
  return 0;
}

// Browsers send the origin of the page, and let any page connect to this machine: only its own pages may.
static int is_allowed_origin(const char *origin) {
  const char *host = strstr(origin, "://");
  if (!*origin) return 1;
  if (!host) return 0;
  host += 3;
  size_t length = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":/");
  return is_local_host(host, length);
}

static void link_free(struct link *link) {
  struct server *server = link->server;
  cr_list_remove(&link->list);
  server->count--;
  free(link);
  try_finish(server);
}

static int on_request(struct cr_conn *conn, const struct cr_handshake_request *request) {
  static const char channels[] = "/ws/channels/";
  struct link *link = cr_conn_owner(conn);
  struct server *server = link->server;
  if (!server->any_origin && !is_allowed_origin(request->origin)) return 403;
  if (!strcmp(request->path, "/")) return 0;
  if (!strcmp(request->path, "/otel")) {
    link->telemetry = 1;
    return 0;
  }
  if (strncmp(request->path, channels, sizeof channels - 1) != 0 || !request->upgrade) return 404;
  int status = cr_channel_request(server->engine, conn, request->path + sizeof channels - 1, request->query);
  if (!status) link_free(link);
  return status;
}

static void on_opened(struct cr_conn *conn) {
  struct link *link = cr_conn_owner(conn);
  char address[64];
  if (link->telemetry) return;
  cr_conn_peer_address(conn, address, sizeof address);
  link->peer = cr_peer_create(link->server->engine, &peer_io, link, address);
  if (!link->peer) cr_conn_close(conn, 1013, "too many workers");
}

static int is_telemetry(const uint8_t *bytes, size_t length) {
  return length >= 4 && (!memcmp(bytes, "OTLP", 4) || !memcmp(bytes, "MTRC", 4) || !memcmp(bytes, "LOGS", 4));
}

static void on_message(struct cr_conn *conn, enum cr_opcode opcode, const uint8_t *bytes, size_t length) {
  struct link *link = cr_conn_owner(conn);
  if (!link->peer || (opcode == CR_BINARY && is_telemetry(bytes, length))) return;
  cr_peer_take(link->peer, (const char *)bytes, length);
}

static void on_drained(struct cr_conn *conn) {
  struct link *link = cr_conn_owner(conn);
  if (link->peer) cr_peer_drained(link->peer);
}

static void on_closed(struct cr_conn *conn, const char *why) {
  struct link *link = cr_conn_owner(conn);
  if (link->peer) {
    cr_log(CR_LOG_DEBUG, "engine: worker %s is gone: %s", link->peer->id, why);
    cr_peer_gone(link->peer);
  }
  link_free(link);
}

static const struct cr_conn_events conn_events = {
    .request = on_request, .opened = on_opened, .message = on_message, .drained = on_drained, .closed = on_closed};

static void on_connection(uv_stream_t *listener, int status) {
  struct server *server = listener->data;
  if (status < 0) {
    cr_log(CR_LOG_WARN, "engine: a connection cannot be accepted: %s", uv_strerror(status));
    return;
  }
  struct link *link = cr_alloc(sizeof *link);
  link->server = server;
  link->conn = cr_conn_accept(listener, &conn_events, link);
  if (!link->conn) {
    free(link);
    return;
  }
  cr_list_append(&server->links, &link->list);
  if (++server->count > CONNECTIONS_MAX) cr_conn_abort(link->conn, "too many connections");
}

// --- start and stop -----------------------------------------------------------------------------------------------

static int read_address(const struct cr_engine_options *options, struct sockaddr_storage *address, int *loopback) {
  const char *host = options->host ? options->host : "127.0.0.1";
  if (!strcmp(host, "localhost")) host = "127.0.0.1";
  if (!uv_ip4_addr(host, options->port, (struct sockaddr_in *)address)) {
    *loopback = ntohl(((struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return 0;
  }
  if (uv_ip6_addr(host, options->port, (struct sockaddr_in6 *)address)) return -1;
  *loopback = IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)address)->sin6_addr);
  return 0;
}

static void name_url(struct server *server, const struct sockaddr_storage *address) {
  char host[64];
  uv_ip_name((const struct sockaddr *)address, host, sizeof host);
  struct sockaddr_storage bound;
  int length = sizeof bound;
  uv_tcp_getsockname(&server->listener, (struct sockaddr *)&bound, &length);
  server->port = ntohs(((struct sockaddr_in *)&bound)->sin_port);
  server->url = cr_format(address->ss_family == AF_INET6 ? "ws://[%s]:%d" : "ws://%s:%d", host, server->port);
}

static void on_listener_closed(uv_handle_t *handle) {
  struct server *server = handle->data;
  server->listener_closed = 1;
  try_finish(server);
}

static void try_finish(struct server *server) {
  if (!server->engine->stopping || !server->listener_closed || server->count) return;
  void (*stopped)(void *of) = server->stopped;
  void *of = server->of;
  cr_engine_free(server->engine);
  free(server->url);
  free(server);
  if (stopped) stopped(of);
}

static int listen_on(struct server *server, const struct sockaddr_storage *address) {
  int error = uv_tcp_init(server->engine->loop, &server->listener);
  server->listener.data = server;
  if (error) return error;
  error = uv_tcp_bind(&server->listener, (const struct sockaddr *)address, 0);
  if (!error) error = uv_listen((uv_stream_t *)&server->listener, BACKLOG, on_connection);
  return error;
}

struct cr_engine *cr_engine_start(uv_loop_t *loop, const struct cr_engine_options *options, struct cr_error *err) {
  const char *host = options->host ? options->host : "127.0.0.1";
  struct sockaddr_storage address = {0};
  int loopback = 0;
  if (options->port < 0 || options->port > 65535 || read_address(options, &address, &loopback)) {
    cr_error_set(err, CR_ENGINE, "not a numeric address and a port: %.100s:%d", host, options->port);
    return NULL;
  }
  if (!loopback && !options->remote) {
    cr_error_set(err, CR_ENGINE,
                 "%s can be reached from other machines, and whoever reaches the engine may call everything; "
                 "this needs --allow-remote",
                 host);
    return NULL;
  }
  struct cr_engine *engine = cr_engine_create(loop, options, err);
  if (!engine) return NULL;
  struct server *server = engine->server = cr_alloc(sizeof *server);
  server->engine = engine;
  server->any_origin = options->any_origin;
  cr_list_init(&server->links);
  int error = listen_on(server, &address);
  if (!error) {
    name_url(server, &address);
    return engine;
  }
  cr_error_set(err, CR_ENGINE, "cannot listen on %s port %d: %s", host, options->port, uv_strerror(error));
  cr_engine_stop(engine, NULL, NULL);
  return NULL;
}

void cr_engine_stop(struct cr_engine *engine, void (*stopped)(void *of), void *of) {
  struct server *server = engine->server;
  if (engine->stopping) return;
  engine->stopping = 1;
  server->stopped = stopped;
  server->of = of;
  for (struct cr_list *at = server->links.next; at != &server->links; at = at->next)
    cr_conn_close(cr_list_item(at, struct link, list)->conn, 1001, NULL);
  uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}

int cr_engine_port(const struct cr_engine *engine) { return engine->server->port; }

const char *cr_engine_url(const struct cr_engine *engine) { return engine->server->url; }
