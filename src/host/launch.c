#include "host/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "guest/control.h"

// Host user ids for runtimes, far above those that people and services have.
#define UID_BASE 1878000000u
#define UID_COUNT 60000u

struct attempt {
  uint64_t flags;
  int root_only;
};

static const uint64_t rest = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;

static uint32_t layers_of(uint64_t flags) {
  static const struct {
    uint64_t flag;
    uint32_t layer;
  } table[] = {{CLONE_NEWUSER, CR_LAYER_USER_NS}, {CLONE_NEWPID, CR_LAYER_PID_NS}, {CLONE_NEWNS, CR_LAYER_MOUNT_NS},
               {CLONE_NEWNET, CR_LAYER_NET_NS},   {CLONE_NEWIPC, CR_LAYER_IPC_NS}, {CLONE_NEWUTS, CR_LAYER_UTS_NS}};
  uint32_t layers = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (flags & table[i].flag) layers |= table[i].layer;
  return layers;
}

static int write_file(pid_t pid, const char *name, const char *text) {
  cr_autofree char *path = cr_format("/proc/%d/%s", (int)pid, name);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  close(file);
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

// Maps the new user namespace; returns how many extra ids it has, or -1.
static long map_ids(pid_t pid) {
  cr_autofree char *wide = cr_format("0 0 1\n1 %u %u\n", UID_BASE + 1, UID_COUNT);
  if (geteuid() == 0 && !write_file(pid, "uid_map", wide) && !write_file(pid, "gid_map", wide)) return UID_COUNT;
  cr_autofree char *uid = cr_format("0 %u 1\n", geteuid());
  cr_autofree char *gid = cr_format("0 %u 1\n", getegid());
  if (write_file(pid, "uid_map", uid)) return -1;
  if (write_file(pid, "setgroups", "deny") && errno != ENOENT) return -1;
  return write_file(pid, "gid_map", gid) ? -1 : 0;
}

// In the new process; only system calls, because this is a fork of a program with an event loop.
static _Noreturn void become_init(const struct cr_launch *launch, char *const *arguments, int control, int go) {
  char byte;
  struct rlimit stack = {launch->stack_bytes, launch->stack_bytes};
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGCHLD, SIG_DFL);
  if (read(go, &byte, 1) != 1) _exit(1);
  int null = open("/dev/null", O_RDWR);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(control, 3) < 0)
    _exit(1);
  if (control == 3) fcntl(3, F_SETFD, 0);
  syscall(SYS_close_range, 4, ~0u, 0);
  if (launch->stack_bytes) setrlimit(RLIMIT_STACK, &stack);
  execve(launch->init, arguments, launch->environment);
  _exit(127);
}

static char **init_arguments(const struct cr_launch *launch, uint32_t layers) {
  size_t count = 0;
  while (launch->arguments[count]) count++;
  char **arguments = cr_alloc(sizeof *arguments * (count + 3));
  arguments[0] = (char *)launch->init;
  arguments[1] = cr_format("%u", layers);
  memcpy(arguments + 2, launch->arguments, sizeof *arguments * count);
  return arguments;
}

static int try_flags(const struct cr_launch *launch, uint64_t flags, struct cr_launched *launched) {
  int pair[2], go[2], pidfd = -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) return -1;
  if (pipe2(go, O_CLOEXEC)) {
    close(pair[0]);
    close(pair[1]);
    return -1;
  }
  uint32_t layers = layers_of(flags);
  char **arguments = init_arguments(launch, layers);
  struct clone_args args = {.flags = flags | CLONE_PIDFD, .pidfd = (uintptr_t)&pidfd, .exit_signal = SIGCHLD};
  pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof args);
  if (pid == 0) {
    close(go[1]);
    become_init(launch, arguments, pair[1], go[0]);
  }
  int error = errno;
  long uids = pid > 0 && (flags & CLONE_NEWUSER) ? map_ids(pid) : geteuid() == 0 ? UID_COUNT : 0;
  if (pid > 0 && uids < 0) error = errno;
  if (pid > 0 && uids >= 0 && write(go[1], "", 1) != 1) error = errno;
  free(arguments[1]);
  free(arguments);
  close(go[0]);
  close(go[1]);
  close(pair[1]);
  if (pid > 0 && uids >= 0) {
    *launched = (struct cr_launched){
        .control = pair[0], .init = pidfd, .layers = layers, .uids = (uint32_t)uids, .uid_base = UID_BASE};
    return 0;
  }
  close(pair[0]);
  if (pidfd >= 0) close(pidfd);
  errno = error;
  return -1;
}

int cr_launch(const struct cr_launch *launch, struct cr_launched *launched, struct cr_error *err) {
  static const struct attempt attempts[] = {
      {CLONE_NEWUSER | rest, 0}, {rest, 1}, {CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID, 0}, {CLONE_NEWUSER, 0}, {0, 1},
  };
  int first = 0;
  for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
    if (attempts[i].root_only && geteuid() != 0) continue;
    if (!try_flags(launch, attempts[i].flags, launched)) return 0;
    if (!first) first = errno;
  }
  return cr_error_set(err, CR_ENGINE, "this host refuses user namespaces (%s): run as root, or allow them",
                      strerror(first));
}
