#include "host/instance.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/instance_internal.h"

#define READ_CHUNK (64u << 10)
#define OUT_MAX (3ul * CR_FRAME_MAX)
#define OUT_HIGH (1u << 20)      // no frame of a runtime is read while so much for it is unread
#define FRAMES_AT_ONCE 16        // then others have their turn
#define CLOSING_PATIENCE_MS 100  // between the end of the stream and that of the process
#define REAPED_PATIENCE_MS 1000

static void on_stream(uv_poll_t *poll, int status, int events);
static void on_pipe(uv_poll_t *poll, int status, int events);
static void stream_ended(struct cr_instance *instance);
static void expel(struct cr_instance *instance);
static void take_frames(struct cr_instance *instance);
static void maybe_release(struct cr_instance *instance);

static void shut(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

static void close_given(struct cr_instance *instance) {
  for (int i = 0; i < 3; i++) shut(&instance->given[i]);
}

static uv_loop_t *loop_of(struct cr_instance *instance) { return instance->patience.loop; }

struct cr_instance *instance_create(struct cr_zygote *zygote, uint64_t data_bytes, struct cr_scratch *scratch) {
  struct cr_instance *instance = cr_alloc(sizeof *instance);
  *instance = (struct cr_instance){
      .zygote = zygote,
      .pidfd = -1,
      .scratch = scratch ? *scratch : CR_NO_SCRATCH,
      .given = {-1, -1, -1},
      .stream = -1,
      .pipes = {-1, -1},
      .data_bytes = data_bytes,
      .in = CR_BUF(CR_FRAME_MAX + CR_FRAME_HEADER + READ_CHUNK),
      .out = CR_BUF(OUT_MAX),
  };
  if (scratch) *scratch = CR_NO_SCRATCH;
  cr_list_init(&instance->link);
  return instance;
}

static int make_channels(struct cr_instance *instance) {
  int pair[2], pipes[2];
  shut(&instance->stream);
  close_given(instance);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) return -1;
  instance->stream = pair[0];
  instance->given[0] = pair[1];
  fcntl(pair[0], F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 2; i++) {
    shut(&instance->pipes[i]);
    if (pipe2(pipes, O_CLOEXEC)) return -1;
    instance->pipes[i] = pipes[0];
    instance->given[1 + i] = pipes[1];
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
  }
  return 0;
}

static void deliver_end(struct cr_instance *instance, int known, int status) {
  const struct cr_end ending = {
      .known = known, .status = status, .parked = instance->parked, .expelled = instance->expelled};
  const struct cr_end *end = &ending;
  instance->state = INSTANCE_ENDED;
  if (!instance->events) {
    zygote_forget(instance->zygote, instance);
    cr_instance_free(instance);
    return;
  }
  instance->events->ended(instance->of, end);
}

static void on_patience(uv_timer_t *timer) { deliver_end(timer->data, 0, 0); }

static void end_soon(struct cr_instance *instance, uint64_t milliseconds) {
  instance->state = INSTANCE_DYING;
  uv_timer_start(&instance->patience, on_patience, milliseconds, 0);
}

void instance_request(struct cr_instance *instance) {
  instance->state = INSTANCE_REQUESTED;
  if (make_channels(instance))
    instance_refused(instance);
  else
    (void)zygote_send_spawn(instance->zygote, instance);
}

void instance_refused(struct cr_instance *instance) {
  close_given(instance);
  end_soon(instance, 0);
}

static void watch(struct cr_instance *instance, uv_poll_t *poll, int descriptor, uv_poll_cb callback) {
  poll->data = instance;
  if (uv_poll_init(loop_of(instance), poll, descriptor)) return;
  instance->handles++;
  uv_poll_start(poll, UV_READABLE, callback);
}

void instance_spawned(struct cr_instance *instance, int32_t pid, int pidfd, int scratch) {
  instance->state = INSTANCE_FORKED;
  instance->pid = pid;
  instance->pidfd = pidfd;
  if (scratch >= 0) instance->scratch.fd = scratch;
  close_given(instance);
  watch(instance, &instance->stream_poll, instance->stream, on_stream);
  for (int i = 0; i < 2; i++) watch(instance, &instance->pipe_polls[i], instance->pipes[i], on_pipe);
  instance->watched = UV_READABLE;
}

static void on_parked(struct cr_instance *instance) {
  instance->state = INSTANCE_LIVE;
  instance->parked = 1;
  if (instance->events) instance->events->live(instance->of);
  if (!instance->freed) cr_instance_flush(instance);
}

void cr_instance_bind(struct cr_instance *instance, const struct cr_instance_events *events, void *of) {
  instance->events = events;
  instance->of = of;
  if (instance->state != INSTANCE_LIVE) return;
  if (instance->unheard)
    for (int i = 0; i < 2; i++) uv_poll_start(&instance->pipe_polls[i], UV_READABLE, on_pipe);
  events->live(of);
}

struct cr_buf *cr_instance_outgoing(struct cr_instance *instance) { return &instance->out; }

static void watch_stream(struct cr_instance *instance) {
  int events = (instance->out.len > OUT_HIGH ? 0 : UV_READABLE) | (instance->out.len ? UV_WRITABLE : 0);
  if (events == instance->watched) return;
  instance->watched = events;
  uv_poll_start(&instance->stream_poll, events, on_stream);
}

void cr_instance_flush(struct cr_instance *instance) {
  if (instance->state != INSTANCE_LIVE) return;
  size_t sent = 0;
  while (sent < instance->out.len) {
    ssize_t n = send(instance->stream, instance->out.data + sent, instance->out.len - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno != EAGAIN) sent = instance->out.len;  // the end shows as the end of the stream
    if (n <= 0) break;
    sent += (size_t)n;
  }
  cr_buf_consume(&instance->out, sent);
  if (!instance->out.len && instance->out.cap > READ_CHUNK) cr_buf_free(&instance->out);
  watch_stream(instance);
}

// Reads at most `most` bytes of one pipe and passes them on; returns what read(2) said last.
static ssize_t pass_output(struct cr_instance *instance, int index, size_t most) {
  static uint8_t chunk[READ_CHUNK];
  while (most) {
    ssize_t n = read(instance->pipes[index], chunk, most < sizeof chunk ? most : sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n;
    most -= (size_t)n;
    instance->events->output(instance->of, index + 1, chunk, (size_t)n);
    if (instance->freed) return 0;
  }
  return 1;
}

void cr_instance_drain(struct cr_instance *instance) {
  if (!instance->events) return;
  instance->busy++;
  for (int i = 0; i < 2 && !instance->freed; i++) {
    int waiting = 0;
    if (instance->pipes[i] >= 0 && !ioctl(instance->pipes[i], FIONREAD, &waiting) && waiting > 0)
      pass_output(instance, i, (size_t)waiting);
  }
  instance->busy--;
}

static void maybe_release(struct cr_instance *instance) {
  if (!instance->freed || instance->handles || instance->busy) return;
  cr_buf_free(&instance->in);
  cr_buf_free(&instance->out);
  free(instance);
}

static void on_pipe(uv_poll_t *poll, int status, int events) {
  struct cr_instance *instance = poll->data;
  (void)events;
  if (!instance->events) {  // nobody to hear it yet
    instance->unheard = 1;
    uv_poll_stop(poll);
    return;
  }
  instance->busy++;
  int index = poll == &instance->pipe_polls[1];
  ssize_t n = status ? 0 : pass_output(instance, index, READ_CHUNK);
  if (!instance->freed && (n == 0 || (n < 0 && errno != EAGAIN))) uv_poll_stop(poll);
  instance->busy--;
  maybe_release(instance);
}

static void answer_mark(struct cr_instance *instance, const struct cr_frame *frame) {
  struct cr_frame_writer writer = cr_frame_begin(&instance->out, CR_FRAME_MARKED, 0, frame->id);
  if (!cr_frame_end(&writer)) cr_instance_flush(instance);
}

static void deliver(struct cr_instance *instance, const struct cr_frame *frame) {
  if (frame->type == CR_FRAME_PARKED && instance->state == INSTANCE_FORKED) {
    on_parked(instance);
    return;
  }
  if (frame->type == CR_FRAME_DONE || frame->type == CR_FRAME_MARK) cr_instance_drain(instance);
  if (instance->freed) return;
  if (instance->state != INSTANCE_LIVE || !instance->events || frame->type < CR_FRAME_DONE ||
      frame->type > CR_FRAME_PONG)
    expel(instance);
  else if (frame->type == CR_FRAME_MARK)
    answer_mark(instance, frame);
  else
    instance->events->frame(instance->of, frame);
}

static int alive(const struct cr_instance *instance) {
  return !instance->freed && (instance->state == INSTANCE_LIVE || instance->state == INSTANCE_FORKED);
}

static void on_again(uv_timer_t *timer) {
  struct cr_instance *instance = timer->data;
  instance->busy++;
  if (alive(instance)) take_frames(instance);
  instance->busy--;
  maybe_release(instance);
}

static void take_frames(struct cr_instance *instance) {
  size_t used = 0;
  int taken = 0;
  for (; alive(instance) && taken < FRAMES_AT_ONCE && instance->out.len <= OUT_HIGH; taken++) {
    struct cr_frame frame;
    ssize_t size = cr_frame_parse(&frame, instance->in.data + used, instance->in.len - used, CR_FRAME_MAX);
    if (size < 0) expel(instance);
    if (size <= 0) break;
    used += (size_t)size;
    deliver(instance, &frame);
  }
  cr_buf_consume(&instance->in, used);
  if (!instance->in.len && instance->in.cap > 4 * READ_CHUNK) cr_buf_free(&instance->in);
  if (alive(instance) && instance->in.len && (taken == FRAMES_AT_ONCE || instance->out.len > OUT_HIGH))
    uv_timer_start(&instance->patience, on_again, instance->out.len > OUT_HIGH ? 1 : 0, 0);
}

static void read_stream(struct cr_instance *instance) {
  if (cr_buf_reserve(&instance->in, READ_CHUNK)) {
    expel(instance);
    return;
  }
  ssize_t n = read(instance->stream, instance->in.data + instance->in.len, instance->in.cap - instance->in.len);
  if (n > 0) {
    instance->in.len += (size_t)n;
    take_frames(instance);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
    stream_ended(instance);
  }
}

static void on_stream(uv_poll_t *poll, int status, int events) {
  struct cr_instance *instance = poll->data;
  instance->busy++;
  if (status)
    stream_ended(instance);
  else if (events & UV_READABLE)
    read_stream(instance);
  if (!instance->freed && (events & UV_WRITABLE)) cr_instance_flush(instance);
  instance->busy--;
  maybe_release(instance);
}

static void kill_process(struct cr_instance *instance) {
  if (instance->pidfd >= 0) syscall(SYS_pidfd_send_signal, instance->pidfd, SIGKILL, NULL, 0);
  shut(&instance->pidfd);
}

// It broke the protocol, or closed its stream and lives: there is nothing more to be had from it.
static void expel(struct cr_instance *instance) {
  if (instance->freed || instance->state == INSTANCE_ENDED) return;
  instance->expelled = 1;
  kill_process(instance);
  uv_poll_stop(&instance->stream_poll);
  end_soon(instance, cr_zygote_state(instance->zygote) == CR_ZYGOTE_READY ? REAPED_PATIENCE_MS : 0);
}

static void on_still_alive(uv_timer_t *timer) { expel(timer->data); }

// Most likely the process has ended; REAPED will say how.
static void stream_ended(struct cr_instance *instance) {
  if (!alive(instance)) return;
  instance->state = INSTANCE_DYING;
  uv_poll_stop(&instance->stream_poll);
  int silent = cr_zygote_state(instance->zygote) != CR_ZYGOTE_READY;
  uv_timer_start(&instance->patience, silent ? on_patience : on_still_alive, silent ? 0 : CLOSING_PATIENCE_MS, 0);
}

void instance_reaped(struct cr_instance *instance, int status) {
  if (!alive(instance) && instance->state != INSTANCE_DYING) return;
  instance->busy++;
  // What it sent before it died still counts.
  for (int i = 0; i < 64 && alive(instance); i++) {
    take_frames(instance);
    if (alive(instance)) read_stream(instance);
  }
  if (!instance->freed) {
    kill_process(instance);
    uv_poll_stop(&instance->stream_poll);
    cr_instance_drain(instance);
  }
  if (!instance->freed) {
    uv_timer_stop(&instance->patience);
    deliver_end(instance, 1, status);
  }
  instance->busy--;
  maybe_release(instance);
}

void instance_zygote_lost(struct cr_instance *instance) {
  if (instance->state == INSTANCE_DYING) uv_timer_start(&instance->patience, on_patience, 0, 0);
}

struct cr_scratch cr_instance_take_scratch(struct cr_instance *instance) {
  struct cr_scratch scratch = instance->scratch;
  instance->scratch = CR_NO_SCRATCH;
  return scratch;
}

const struct cr_scratch *cr_instance_scratch(const struct cr_instance *instance) { return &instance->scratch; }

static void on_closed(uv_handle_t *handle) {
  struct cr_instance *instance = handle->data;
  instance->handles--;
  maybe_release(instance);
}

static void close_handle(struct cr_instance *instance, void *handle) {
  (void)instance;
  if (((uv_handle_t *)handle)->loop) uv_close(handle, on_closed);
}

void cr_instance_free(struct cr_instance *instance) {
  if (!instance || instance->freed) return;
  instance->freed = 1;
  zygote_forget(instance->zygote, instance);
  cr_scratch_release(&instance->scratch,
                     loop_of(instance));  // before the process, so that its exit does the unmounting
  kill_process(instance);
  close_handle(instance, &instance->patience);
  close_handle(instance, &instance->stream_poll);
  for (int i = 0; i < 2; i++) close_handle(instance, &instance->pipe_polls[i]);
  shut(&instance->stream);
  for (int i = 0; i < 2; i++) shut(&instance->pipes[i]);
  close_given(instance);
  maybe_release(instance);
}
