// cr-init LAYERS PROGRAM [ARGUMENT…]: the first process of a zygote's namespaces. It starts the zygote and stays until
// the last runtime has ended, so that a zygote can die alone; when the worker dies, the kernel ends it, and with it
// everything in its pid namespace (pid_namespaces(7)).
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest/control.h"
#include "guest/layers.h"

static void name_host(uint32_t layers) {
  if (layers & CR_LAYER_UTS_NS) (void)sethostname("code-runner", 11);
}

// libuv makes an io_uring whenever it can, and a fork of it could not use that: sealed runtimes have no io_uring.
static void refuse_io_uring(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static _Noreturn void start(char **arguments) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  refuse_io_uring();
  execv(arguments[0], arguments);
  dprintf(STDERR_FILENO, "code-runner: cannot start %s: %s\n", arguments[0], strerror(errno));
  _exit(127);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setenv(CR_LAYERS_VARIABLE, argv[1], 1);
  name_host((uint32_t)strtoul(argv[1], NULL, 10));
  pid_t zygote = fork();
  if (zygote < 0) return 1;
  if (zygote == 0) start(argv + 2);
  for (int descriptor = 0; descriptor <= 3; descriptor++) close(descriptor);
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) continue;
  return 0;
}
