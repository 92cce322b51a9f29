#include "console/console.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/id.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "console/request.h"
#include "ui/assets.h"

#define CONNECTIONS_MAX 64
#define BACKLOG 64
#define HEAD_LIMIT_MS 10000
#define CHUNK 65536u
#define PASSED_MAX (4u << 20)  // bytes that wait for the other side of a passed-on WebSocket

struct cr_console {
  uv_tcp_t listener;
  char token[CR_UUID_SIZE];
  char host[2][32];  // what Host may say
  char *url;
  int engine_port;
  unsigned connections;
  int stopped;  // the listener is closed
  struct cr_list links;
};

// A browser's connection; `engine` is the other side of a WebSocket.
struct link {
  struct cr_list list;
  struct cr_console *console;
  uv_tcp_t browser;
  uv_tcp_t engine;
  uv_timer_t limit;
  uv_connect_t connecting;
  struct cr_buf head;
  int passing;
  int has_engine;
  int handles;
  int closing;
};

struct sending {
  uv_write_t write;
  struct link *link;
  int last;
  char bytes[];
};

static void maybe_free(struct cr_console *console) {
  if (!console->stopped || console->connections) return;
  free(console->url);
  free(console);
}

static void on_closed(uv_handle_t *handle) {
  struct link *link = handle->data;
  if (--link->handles) return;
  cr_list_remove(&link->list);
  link->console->connections--;
  maybe_free(link->console);
  cr_buf_free(&link->head);
  free(link);
}

static void drop(struct link *link) {
  if (link->closing) return;
  link->closing = 1;
  uv_close((uv_handle_t *)&link->browser, on_closed);
  uv_close((uv_handle_t *)&link->limit, on_closed);
  if (link->has_engine) uv_close((uv_handle_t *)&link->engine, on_closed);
}

static void on_sent(uv_write_t *write, int status) {
  struct sending *sending = (struct sending *)write;
  if (status || sending->last) drop(sending->link);
  free(sending);
}

static void send_bytes(struct link *link, uv_tcp_t *to, const void *bytes, size_t length, int last) {
  struct sending *sending = cr_alloc(sizeof *sending + length);
  sending->link = link;
  sending->last = last;
  memcpy(sending->bytes, bytes, length);
  uv_buf_t buf = uv_buf_init(sending->bytes, (unsigned)length);
  if (!uv_write(&sending->write, (uv_stream_t *)to, &buf, 1, on_sent)) return;
  free(sending);
  drop(link);
}

// --- files ----------------------------------------------------------------------------------------------------------

static void answer(struct link *link, const char *status, const char *type, const void *body, size_t length,
                   int head_only) {
  const struct cr_asset *policy = cr_asset_find("console/policy.txt");
  cr_autobuf out = CR_BUF(length + 4096);
  (void)cr_buf_printf(&out,
                      "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nContent-Security-Policy: %.*s\r\n"
                      "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n"
                      "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
                      status, type, length, (int)strcspn((const char *)policy->bytes, "\r\n"),
                      (const char *)policy->bytes);
  if (!head_only) (void)cr_buf_append(&out, body, length);
  send_bytes(link, &link->browser, out.data, out.len, 1);
}

static void refuse(struct link *link, const char *status) {
  answer(link, status, "text/plain; charset=utf-8", status, strlen(status), 0);
}

static const struct cr_asset *find_file(const char *name) {
  static const char cards[] = "ui/code-runner/";
  if (!strncmp(name, cards, sizeof cards - 1)) {
    const char *file = name + sizeof cards - 1;
    return strcmp(file, "page.js") == 0 || strcmp(file, "styles.css") == 0 ? cr_asset_find(file) : NULL;
  }
  cr_autofree char *path = cr_format("console/%s", *name ? name : "index.html");
  return cr_asset_find(path);
}

// --- WebSockets -----------------------------------------------------------------------------------------------------

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buf) {
  (void)handle, (void)suggested;
  static char chunk[CHUNK];
  *buf = uv_buf_init(chunk, sizeof chunk);
}

static void on_passed(uv_stream_t *from, ssize_t n, const uv_buf_t *buf) {
  struct link *link = from->data;
  uv_tcp_t *to = from == (uv_stream_t *)&link->browser ? &link->engine : &link->browser;
  if (n < 0 || uv_stream_get_write_queue_size((uv_stream_t *)to) > PASSED_MAX)
    drop(link);
  else if (n > 0)
    send_bytes(link, to, buf->base, (size_t)n, 0);
}

static void on_engine(uv_connect_t *connecting, int status) {
  struct link *link = connecting->data;
  if (link->closing) return;
  if (status) {
    refuse(link, "502 Bad Gateway");
    return;
  }
  send_bytes(link, &link->engine, link->head.data, link->head.len, 0);
  uv_read_start((uv_stream_t *)&link->engine, on_allocate, on_passed);
  uv_read_start((uv_stream_t *)&link->browser, on_allocate, on_passed);
}

// The browser's own handshake goes to the engine, with the path that the engine knows.
static void pass_on(struct link *link, const struct cr_console_request *request) {
  static const char line[] = "GET / HTTP/1.1\r\n";
  struct cr_buf head = CR_BUF(CR_CONSOLE_HEAD_MAX + CHUNK);
  struct sockaddr_in address;
  if (cr_buf_append(&head, line, sizeof line - 1) ||
      cr_buf_append(&head, link->head.data + request->line_end, link->head.len - request->line_end))
    cr_out_of_memory();
  cr_buf_free(&link->head);
  link->head = head;
  link->passing = 1;
  uv_read_stop((uv_stream_t *)&link->browser);
  uv_timer_stop(&link->limit);
  uv_tcp_init(link->browser.loop, &link->engine);
  link->engine.data = link->connecting.data = link;
  link->has_engine = 1;
  link->handles++;
  uv_ip4_addr("127.0.0.1", link->console->engine_port, &address);
  if (uv_tcp_connect(&link->connecting, &link->engine, (const struct sockaddr *)&address, on_engine)) drop(link);
}

// --- requests -------------------------------------------------------------------------------------------------------

static int same(const char *a, const char *b, size_t length) {
  unsigned char differs = 0;
  for (size_t i = 0; i < length; i++) differs |= (unsigned char)(a[i] ^ b[i]);
  return !differs;
}

// What follows "/TOKEN/", or NULL.
static const char *below_token(const struct cr_console *console, const char *path) {
  size_t length = sizeof console->token - 1;
  if (strlen(path) < length + 2 || path[length + 1] != '/') return NULL;
  return same(path + 1, console->token, length) ? path + length + 2 : NULL;
}

static int ours(const struct cr_console *console, const char *host) {
  return !strcmp(host, console->host[0]) || !strcmp(host, console->host[1]);
}

static void act(struct link *link, const struct cr_console_request *request) {
  const char *name = below_token(link->console, request->path);
  int head_only = !strcmp(request->method, "HEAD");
  int own_origin = !strncmp(request->origin, "http://", 7) && ours(link->console, request->origin + 7);
  const struct cr_asset *file = name ? find_file(name) : NULL;
  if (!ours(link->console, request->host) || (*request->origin && !own_origin))
    refuse(link, "403 Forbidden");
  else if (!strcmp(request->path, "/favicon.ico"))
    answer(link, "204 No Content", "image/x-icon", "", 0, 0);
  else if (!name)
    refuse(link, "404 Not Found");
  else if (strcmp(request->method, "GET") != 0 && !head_only)
    refuse(link, "405 Method Not Allowed");
  else if (!strcmp(name, "bus") && request->upgrade)
    pass_on(link, request);
  else if (file)
    answer(link, "200 OK", file->type, file->bytes, file->length, head_only);
  else
    refuse(link, "404 Not Found");
}

static void on_head(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf) {
  struct link *link = stream->data;
  struct cr_console_request request;
  if (n < 0 || (n > 0 && cr_buf_append(&link->head, buf->base, (size_t)n))) {
    drop(link);
    return;
  }
  ssize_t length = cr_console_request_read(&request, (const char *)link->head.data, link->head.len);
  if (!length) return;
  uv_read_stop(stream);
  if (length < 0)
    refuse(link, "400 Bad Request");
  else
    act(link, &request);
}

static void on_limit(uv_timer_t *timer) { drop(timer->data); }

static void on_connection(uv_stream_t *listener, int status) {
  struct cr_console *console = listener->data;
  if (status) return;
  struct link *link = cr_alloc(sizeof *link);
  *link = (struct link){.console = console, .head = CR_BUF(CR_CONSOLE_HEAD_MAX + CHUNK), .handles = 2};
  uv_tcp_init(listener->loop, &link->browser);
  uv_timer_init(listener->loop, &link->limit);
  link->browser.data = link->limit.data = link;
  cr_list_append(&console->links, &link->list);
  if (++console->connections > CONNECTIONS_MAX || uv_accept(listener, (uv_stream_t *)&link->browser)) {
    drop(link);
    return;
  }
  uv_timer_start(&link->limit, on_limit, HEAD_LIMIT_MS, 0);
  uv_read_start((uv_stream_t *)&link->browser, on_allocate, on_head);
}

struct cr_console *cr_console_start(uv_loop_t *loop, int port, int engine_port, struct cr_error *err) {
  struct cr_console *console = cr_alloc(sizeof *console);
  struct sockaddr_in address;
  int size = sizeof address;
  cr_uuid(console->token);
  cr_list_init(&console->links);
  console->engine_port = engine_port;
  uv_tcp_init(loop, &console->listener);
  console->listener.data = console;
  uv_ip4_addr("127.0.0.1", port, &address);
  int failed = uv_tcp_bind(&console->listener, (const struct sockaddr *)&address, 0);
  if (!failed) failed = uv_listen((uv_stream_t *)&console->listener, BACKLOG, on_connection);
  if (!failed) failed = uv_tcp_getsockname(&console->listener, (struct sockaddr *)&address, &size);
  if (failed) {
    cr_error_set(err, CR_ENGINE, "the console cannot listen on 127.0.0.1:%d: %s", port, uv_strerror(failed));
    cr_console_stop(console);
    return NULL;
  }
  snprintf(console->host[0], sizeof console->host[0], "127.0.0.1:%d", ntohs(address.sin_port));
  snprintf(console->host[1], sizeof console->host[1], "localhost:%d", ntohs(address.sin_port));
  console->url = cr_format("http://%s/%s/", console->host[0], console->token);
  return console;
}

const char *cr_console_url(const struct cr_console *console) { return console->url; }

static void on_listener_closed(uv_handle_t *handle) {
  struct cr_console *console = handle->data;
  console->stopped = 1;
  maybe_free(console);
}

void cr_console_stop(struct cr_console *console) {
  if (!console) return;
  for (struct cr_list *at = console->links.next, *next; at != &console->links; at = next) {
    next = at->next;
    drop(cr_list_item(at, struct link, list));
  }
  uv_close((uv_handle_t *)&console->listener, on_listener_closed);
}
