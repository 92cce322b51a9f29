#include "guest/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

// What any C program needs to compute, tell the time and end.
static const int common_calls[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(preadv),
    SCMP_SYS(pwritev),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(lseek),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(getrandom),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(getdents64),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
    SCMP_SYS(mkdirat),
    SCMP_SYS(unlinkat),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(linkat),
    SCMP_SYS(symlinkat),
    SCMP_SYS(readlinkat),
    SCMP_SYS(utimensat),
    SCMP_SYS(fallocate),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(fchmod),
    SCMP_SYS(fadvise64),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(membarrier),
    SCMP_SYS(getrusage),
    SCMP_SYS(mincore),
    SCMP_SYS(fstatfs),
    SCMP_SYS(getrlimit),
};

// Node's event loop, its thread pool and its file system module. No call that makes a socket, a process or a mount.
static const int node_calls[] = {
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(pipe2),
    SCMP_SYS(open),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(access),
    SCMP_SYS(mkdir),
    SCMP_SYS(rmdir),
    SCMP_SYS(unlink),
    SCMP_SYS(rename),
    SCMP_SYS(link),
    SCMP_SYS(symlink),
    SCMP_SYS(readlink),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(utime),
    SCMP_SYS(utimes),
    SCMP_SYS(futimesat),
    SCMP_SYS(truncate),
    SCMP_SYS(statfs),
    SCMP_SYS(flock),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(sendfile),
    SCMP_SYS(getcwd),
    SCMP_SYS(chdir),
    SCMP_SYS(fchdir),
    SCMP_SYS(getdents),
    SCMP_SYS(getppid),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(umask),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getpriority),
    SCMP_SYS(rseq),
    SCMP_SYS(msync),
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(inotify_rm_watch),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(getgroups),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(times),
    SCMP_SYS(chown),
    SCMP_SYS(fchown),
    SCMP_SYS(lchown),
    SCMP_SYS(fchownat),
};

static const uint64_t fcntl_commands[] = {F_GETFD, F_SETFD, F_GETFL,  F_SETFL,        F_DUPFD,
                                          F_GETLK, F_SETLK, F_SETLKW, F_DUPFD_CLOEXEC};

static int allow_all(scmp_filter_ctx filter, const int *calls, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
    // A call that this architecture never had.
    if (result && result != -EDOM && result != -EINVAL) return result;
  }
  return 0;
}

// A call whose argument `index`, masked, has this value.
static int allow_masked(scmp_filter_ctx filter, int call, unsigned index, uint64_t mask, uint64_t value) {
  struct scmp_arg_cmp match = {.arg = index, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
  return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &match);
}

static int allow_value(scmp_filter_ctx filter, int call, unsigned index, uint64_t value) {
  struct scmp_arg_cmp match = {.arg = index, .op = SCMP_CMP_EQ, .datum_a = value};
  return seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &match);
}

static int allow_values(scmp_filter_ctx filter, int call, unsigned index, const uint64_t *values, size_t count) {
  int result = 0;
  for (size_t i = 0; i < count && !result; i++) result = allow_value(filter, call, index, values[i]);
  return result;
}

// Not shared and anonymous: that would not count against RLIMIT_DATA.
static int allow_memory(scmp_filter_ctx filter) {
  static const uint64_t kinds[] = {0, MAP_ANONYMOUS, MAP_SHARED};
  int result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 0);
  for (size_t i = 0; i < COUNT(kinds) && !result; i++)
    result = allow_masked(filter, SCMP_SYS(mmap), 3, MAP_SHARED | MAP_ANONYMOUS, kinds[i]);
  return result;
}

// A process may signal itself (abort does), but not by SIGKILL, which is how one that was killed from outside is known;
// and read its own limits.
static int allow_self(scmp_filter_ctx filter) {
  struct scmp_arg_cmp own_limits[] = {{.arg = 0, .op = SCMP_CMP_EQ}, {.arg = 2, .op = SCMP_CMP_EQ}};
  struct scmp_arg_cmp self[] = {{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = CR_POLICY_SELF},
                                {.arg = 1, .op = SCMP_CMP_NE, .datum_a = SIGKILL}};
  int result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(kill), 2, self);
  self[1].arg = 2;
  if (!result) result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 2, self);
  if (!result) result = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 2, own_limits);
  return result;
}

// Threads of the same process only. The flags of clone3 are in memory, where a filter cannot look: ENOSYS makes the C
// library use clone.
static int allow_threads(scmp_filter_ctx filter) {
  const uint64_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  const uint64_t spaces =
      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  int result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  return result ? result : allow_masked(filter, SCMP_SYS(clone), 0, thread | spaces, thread);
}

static int allow_node_extras(scmp_filter_ctx filter) {
  static const uint64_t names[] = {PR_SET_NAME, PR_SET_VMA};
  static const uint64_t requests[] = {FIONBIO, FIOCLEX, FIONCLEX, FIONREAD};
  int result = allow_threads(filter);
  if (!result) result = allow_values(filter, SCMP_SYS(prctl), 0, names, COUNT(names));
  if (!result) result = allow_values(filter, SCMP_SYS(ioctl), 1, requests, COUNT(requests));
  if (!result) result = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(pkey_mprotect), 0);
  return result;
}

scmp_filter_ctx cr_policy_filter(enum cr_policy policy) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) return NULL;
  int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  if (!result) result = allow_all(filter, common_calls, COUNT(common_calls));
  if (!result) result = allow_memory(filter);
  if (!result) result = allow_values(filter, SCMP_SYS(fcntl), 1, fcntl_commands, COUNT(fcntl_commands));
  if (!result) result = allow_self(filter);
  if (!result && policy == CR_POLICY_NODE) result = allow_all(filter, node_calls, COUNT(node_calls));
  if (!result && policy == CR_POLICY_NODE) result = allow_node_extras(filter);
  if (!result) return filter;
  errno = -result;
  seccomp_release(filter);
  return NULL;
}
