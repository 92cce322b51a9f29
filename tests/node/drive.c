// node-drive LIBEXEC COUNT: the worker's side of the node zygote, as little of it as a test needs. It forks COUNT
// runtimes; the stream, stdout and stderr of the n-th are the descriptors 3 + 3n and the two after it, whose other ends
// the test has. Prints `ready VERSION`, `spawned N PID` and `ended PID STATUS` (the status of waitpid(2)).
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/control.h"

#define HIGH 128  // out of the way of the descriptors that were given

static _Noreturn void fail(const char *what) {
  perror(what);
  exit(1);
}

static int start(const char *libexec) {
  char init[512], node[512], script[512];
  int pair[2];
  (void)snprintf(init, sizeof init, "%s/cr-init", libexec);
  (void)snprintf(node, sizeof node, "%s/node", libexec);
  (void)snprintf(script, sizeof script, "%s/zygote.cjs", libexec);
  char *arguments[] = {init,
                       "0",
                       node,
                       "--max-old-space-size=128",
                       "--single-threaded",
                       "--v8-pool-size=0",
                       "--disable-sigusr1",
                       "--unhandled-rejections=none",
                       "--no-warnings",
                       script,
                       NULL};
  char *environment[] = {NULL};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair)) fail("socketpair");
  int control = dup2(pair[0], HIGH);
  pid_t pid = fork();
  if (pid < 0 || control < 0) fail("fork");
  if (pid == 0) {
    int null = open("/dev/null", O_RDWR);
    if (dup2(null, STDIN_FILENO) < 0 || dup2(pair[1], 3) < 0) fail("dup2");
    close_range(4, ~0u, 0);
    execve(init, arguments, environment);
    fail(init);
  }
  close(pair[0]);
  close(pair[1]);
  return control;
}

static struct cr_control receive(int control) {
  struct cr_control packet;
  int descriptors[CR_CONTROL_DESCRIPTORS], count = 0;
  if (cr_control_receive(control, &packet, descriptors, &count, 0) <= 0) exit(0);
  while (count > 0) close(descriptors[--count]);
  return packet;
}

static void report(const struct cr_control *packet) {
  if (packet->kind == CR_CONTROL_READY) printf("ready %s\n", packet->text);
  if (packet->kind == CR_CONTROL_SPAWNED) printf("spawned %u %d\n", packet->seq, packet->pid);
  if (packet->kind == CR_CONTROL_REAPED) printf("ended %d %d\n", packet->pid, packet->status);
  if (packet->kind == CR_CONTROL_FAILED) fprintf(stderr, "not spawned: %s\n", packet->text);
  fflush(stdout);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  int count = (int)strtol(argv[2], NULL, 10);
  // Room for its own descriptors: all that were given go above them.
  int given[HIGH];
  if (count < 1 || 3 * count > HIGH) return 2;
  for (int i = 0; i < 3 * count; i++) given[i] = dup2(3 + i, HIGH + 1 + i);
  for (int i = 0; i < 3 * count; i++) close(3 + i);
  int control = start(argv[1]);
  struct cr_control packet = receive(control);
  report(&packet);
  for (int i = 0; i < count; i++) {
    struct cr_control spawn = {.kind = CR_CONTROL_SPAWN,
                               .seq = (uint32_t)i,
                               .data_bytes = UINT64_C(288) << 20,
                               .tmpfs_bytes = (8u << 20) + (64u << 12) + 8192,
                               .tmpfs_inodes = 64};
    if (cr_control_send(control, &spawn, given + 3 * i, 3)) fail("send");
    for (int k = 0; k < 3; k++) close(given[3 * i + k]);
    packet = receive(control);
    report(&packet);
  }
  for (;;) {
    packet = receive(control);
    report(&packet);
  }
}
