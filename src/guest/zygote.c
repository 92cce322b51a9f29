#include "guest/zygote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/control.h"
#include "guest/layers.h"
#include "guest/root.h"

#define INHERITED_MAX 128

struct zygote {
  const struct cr_zygote_options *options;
  struct cr_seal *seal;
  uint32_t layers;
  uint64_t base_data;
  int children;  // eventfd(2): some child has ended
  int inherited[INHERITED_MAX];
  int inherited_count;
};

// RLIMIT_DATA counts what the parked zygote has as well: a runtime's budget goes on top. proc_pid_status(5)
static uint64_t data_in_use(void) {
  uint64_t kib = 0;
  char line[256];
  FILE *status = fopen("/proc/self/status", "re");
  while (status && !kib && fgets(line, sizeof line, status))
    if (!strncmp(line, "VmData:", 7)) kib = strtoull(line + 7, NULL, 10);
  if (status) fclose(status);
  return kib << 10;
}

static void say(const struct cr_control *packet, const int *descriptors, int count) {
  if (cr_control_send(CR_ZYGOTE_CONTROL, packet, descriptors, count)) _exit(0);
}

static void say_failed(uint32_t seq, const char *what) {
  struct cr_control packet = {.kind = CR_CONTROL_FAILED, .seq = seq};
  snprintf(packet.text, sizeof packet.text, "%s: %s", what, strerror(errno));
  say(&packet, NULL, 0);
}

static int child_ended;

// A handler, because the signal may come to any thread of the engine: signalfd(2) would miss those.
static void on_child(int number) {
  static const uint64_t one = 1;
  int error = errno;
  (void)number;
  (void)!write(child_ended, &one, sizeof one);
  errno = error;
}

static void reap(void) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
    say(&(struct cr_control){.kind = CR_CONTROL_REAPED, .pid = pid, .status = status}, NULL, 0);
}

static _Noreturn void give_up(const char *what) {
  dprintf(STDERR_FILENO, "code-runner: cannot start the runtime: %s: %s\n", what, strerror(errno));
  _exit(125);
}

// What the engine has open. A fork would share these pipes and event counters with the zygote and with all other forks.
static void note_descriptors(struct zygote *zygote) {
  DIR *open_now = opendir("/proc/self/fd");
  for (struct dirent *entry; open_now && (entry = readdir(open_now));) {
    int descriptor = (int)strtol(entry->d_name, NULL, 10);
    if (descriptor <= CR_ZYGOTE_CONTROL || descriptor == dirfd(open_now)) continue;
    if (zygote->inherited_count == INHERITED_MAX) _exit(125);
    zygote->inherited[zygote->inherited_count++] = descriptor;
  }
  if (open_now) closedir(open_now);
}

// Each becomes /dev/null, under the same number: the engine may close it, or replace it by one of its own.
static void blind_descriptors(const struct zygote *zygote) {
  for (int i = 0; i < zygote->inherited_count; i++)
    if (dup2(STDIN_FILENO, zygote->inherited[i]) < 0) give_up("dup2");
}

// In the fork. `given`: stream, stdout, stderr, scratch.
static void become_runtime(struct zygote *zygote, const struct cr_control *request, const int *given,
                           struct cr_runtime *runtime) {
  close(CR_ZYGOTE_CONTROL);
  close(zygote->children);
  blind_descriptors(zygote);
  if (dup2(given[1], STDOUT_FILENO) < 0 || dup2(given[2], STDERR_FILENO) < 0) give_up("dup2");
  close(given[1]);
  close(given[2]);
  // The descriptor of its root stays open: the last one unmounts it, which takes a while and is better done by a
  // process that ends than by the worker.
  if (cr_root_enter(given[3])) give_up("root directory");
  *runtime = (struct cr_runtime){.stream = given[0], .scratch = -1, .data_bytes = request->data_bytes};
  if (zygote->options->keep_scratch) {
    runtime->scratch = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (runtime->scratch < 0) give_up("/work");
  }
  if (zygote->options->in_fork) zygote->options->in_fork(zygote->options->of);
  signal(SIGCHLD, SIG_DFL);
  cr_seal_apply(zygote->seal, zygote->base_data + request->data_bytes, request->uid,
                !(zygote->layers & CR_LAYER_PID_NS));
}

// No guest has run yet: what is sent and what happens before this is ours.
static void say_parked(int stream) {
  uint8_t storage[CR_FRAME_HEADER];
  struct cr_buf buf = {.data = storage, .cap = sizeof storage, .max = sizeof storage};
  struct cr_frame_writer writer = cr_frame_begin(&buf, CR_FRAME_PARKED, 0, 0);
  if (cr_frame_end(&writer) || cr_stream_write(stream, buf.data, buf.len)) _exit(0);
}

static void report_spawned(uint32_t seq, pid_t pid, const int *scratch) {
  int out[2] = {(int)syscall(SYS_pidfd_open, pid, 0), scratch ? *scratch : -1};
  if (out[0] < 0) {
    say_failed(seq, "pidfd_open");
    kill(pid, SIGKILL);
    return;
  }
  say(&(struct cr_control){.kind = CR_CONTROL_SPAWNED, .seq = seq, .pid = pid}, out, scratch ? 2 : 1);
  close(out[0]);
}

// Returns 0 in the fork only.
static int spawn(struct zygote *zygote, const struct cr_control *request, int *given, int count,
                 struct cr_runtime *runtime) {
  int fresh = !(request->flags & CR_SPAWN_SCRATCH);
  int failed = count != (fresh ? 3 : 4);
  errno = EBADMSG;
  if (!failed && fresh) {
    given[3] = cr_root_scratch(request->tmpfs_bytes, request->tmpfs_inodes, request->uid);
    failed = given[3] < 0;
    if (!failed) count = 4;
  }
  pid_t pid = failed ? -1 : fork();
  if (pid == 0) {
    become_runtime(zygote, request, given, runtime);
    say_parked(runtime->stream);
    return 0;
  }
  if (pid < 0)
    say_failed(request->seq, "spawn");
  else
    report_spawned(request->seq, pid, fresh ? &given[3] : NULL);
  while (count > 0) close(given[--count]);
  return -1;
}

static struct zygote prepare(const struct cr_zygote_options *options) {
  struct zygote zygote = {.options = options, .seal = cr_seal_prepare(options->policy)};
  if (!zygote.seal) _exit(125);
  zygote.base_data = data_in_use();
  note_descriptors(&zygote);
  zygote.layers = cr_layers_taken() | cr_seal_layers(zygote.seal);
  if ((zygote.layers & CR_LAYER_MOUNT_NS) && !cr_root_empty()) zygote.layers |= CR_LAYER_EMPTY_ROOT;
  int probe = cr_root_scratch(4096, 1, 0);
  if (probe >= 0) {
    zygote.layers |= CR_LAYER_TMPFS;
    close(probe);
  }
  struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
  zygote.children = child_ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (zygote.children < 0 || sigaction(SIGCHLD, &action, NULL)) give_up("SIGCHLD");
  return zygote;
}

int cr_zygote_serve(const struct cr_zygote_options *options, struct cr_runtime *runtime) {
  struct zygote zygote = prepare(options);
  struct cr_control ready = {.kind = CR_CONTROL_READY, .layers = zygote.layers};
  snprintf(ready.text, sizeof ready.text, "%s", options->version);
  say(&ready, NULL, 0);
  for (;;) {
    struct pollfd waits[2] = {{.fd = CR_ZYGOTE_CONTROL, .events = POLLIN}, {.fd = zygote.children, .events = POLLIN}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) _exit(1);
    uint64_t ended;
    if (waits[1].revents && read(zygote.children, &ended, sizeof ended) > 0) reap();
    if (!waits[0].revents) continue;
    struct cr_control request;
    int given[CR_CONTROL_DESCRIPTORS], count = 0;
    int got = cr_control_receive(CR_ZYGOTE_CONTROL, &request, given, &count, 0);
    if (got <= 0) _exit(0);
    if (request.kind == CR_CONTROL_SPAWN && !spawn(&zygote, &request, given, count, runtime)) return 0;
  }
}
