// System calls that a sealed runtime must not get through. Raw, because the C library has ways around a refusal.
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/probe/probe.h"

// Defines the attempt `name`: one raw system call.
#define CALL(name, ...)                                       \
  static void name(int stream, struct probe_report *report) { \
    (void)stream;                                             \
    report->returned = syscall(__VA_ARGS__);                  \
    report->error = report->returned < 0 ? errno : 0;         \
  }

static char *const no_words[] = {NULL};
static const char shell[] = "/bin/sh";
static struct {
  uint16_t family, port;
  uint32_t address;
  uint8_t zero[8];
} loopback = {2, 0x5000, 0x0100007f, {0}};
static struct rlimit boundless = {RLIM_INFINITY, RLIM_INFINITY};
static uint8_t space[4096];

// Sockets.
CALL(socket_inet, SYS_socket, AF_INET, SOCK_STREAM, 0)
CALL(socket_unix, SYS_socket, AF_UNIX, SOCK_STREAM, 0)
CALL(socket_netlink, SYS_socket, AF_NETLINK, SOCK_RAW, 0)
CALL(socket_pair, SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, space)
CALL(socket_connect, SYS_connect, stream, &loopback, sizeof loopback)
CALL(socket_bind, SYS_bind, stream, &loopback, sizeof loopback)
CALL(socket_accept, SYS_accept4, stream, NULL, NULL, 0)
CALL(socket_sendmsg, SYS_sendmsg, stream, space, 0)
CALL(socket_recvmsg, SYS_recvmsg, stream, space, 0)
CALL(socket_sendto, SYS_sendto, stream, "x", 1, 0, NULL, 0)
CALL(socket_option, SYS_setsockopt, stream, SOL_SOCKET, SO_SNDBUF, space, 4)

// New programs and processes.
CALL(exec, SYS_execve, shell, no_words, no_words)
CALL(exec_at, SYS_execveat, AT_FDCWD, shell, no_words, no_words, 0)
CALL(clone_process, SYS_clone, SIGCHLD, 0, 0, 0, 0)
CALL(clone_vm_only, SYS_clone, CLONE_VM | SIGCHLD, space + sizeof space, 0, 0, 0)
CALL(clone_new_user, SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)
CALL(clone_three, SYS_clone3, space, 88)
CALL(unshare_user, SYS_unshare, CLONE_NEWUSER)
CALL(unshare_mount, SYS_unshare, CLONE_NEWNS)
CALL(unshare_files, SYS_unshare, CLONE_FILES)
CALL(enter_namespace, SYS_setns, stream, 0)
#ifdef SYS_fork
CALL(fork_old, SYS_fork)
CALL(fork_vm, SYS_vfork)
#endif

// Other processes.
CALL(trace_me, SYS_ptrace, PTRACE_TRACEME, 0, 0, 0)
CALL(trace_parent, SYS_ptrace, PTRACE_ATTACH, getppid(), 0, 0)
CALL(trace_init, SYS_ptrace, PTRACE_SEIZE, 1, 0, 0)
CALL(memory_read, SYS_process_vm_readv, 1, space, 1, space, 1, 0)
CALL(memory_write, SYS_process_vm_writev, 1, space, 1, space, 1, 0)
CALL(compare, SYS_kcmp, getpid(), 1, 0, 0, 0)
CALL(pidfd, SYS_pidfd_open, 1, 0)
CALL(pidfd_steal, SYS_pidfd_getfd, stream, 3, 0)
CALL(pidfd_signal, SYS_pidfd_send_signal, stream, SIGKILL, NULL, 0)
CALL(kill_parent, SYS_kill, getppid(), SIGKILL)
CALL(kill_init, SYS_kill, 1, SIGKILL)
CALL(kill_all, SYS_kill, -1, SIGKILL)
CALL(kill_group, SYS_kill, 0, SIGKILL)
CALL(kill_thread_of_parent, SYS_tgkill, getppid(), getppid(), SIGKILL)
CALL(kill_any_thread, SYS_tkill, 1, SIGKILL)
CALL(kill_queue, SYS_rt_sigqueueinfo, 1, SIGKILL, space)
CALL(priority_of_all, SYS_setpriority, PRIO_PGRP, 0, -20)
CALL(affinity, SYS_sched_setaffinity, 0, sizeof space, space)
CALL(session, SYS_setsid)
CALL(group, SYS_setpgid, 0, 0)
CALL(wait_any, SYS_wait4, -1, NULL, 0, NULL)

// Mounts and roots.
CALL(mount_tmpfs, SYS_mount, "none", "/work", "tmpfs", 0, NULL)
CALL(mount_proc, SYS_mount, "proc", "/work", "proc", 0, NULL)
CALL(unmount, SYS_umount2, "/", 2)
CALL(root_change, SYS_chroot, ".")
CALL(root_pivot, SYS_pivot_root, ".", ".")
CALL(mount_open, SYS_fsopen, "tmpfs", 0)
CALL(mount_tree, SYS_open_tree, AT_FDCWD, "/", 1)
CALL(mount_move, SYS_move_mount, stream, "", AT_FDCWD, "/work", 4)

// Kernel interfaces with a history.
CALL(io_uring, SYS_io_uring_setup, 8, space)
CALL(io_old, SYS_io_setup, 8, space)
CALL(bpf, SYS_bpf, 5, space, 72)
CALL(perf, SYS_perf_event_open, space, 0, -1, -1, 0)
CALL(key_add, SYS_add_key, "user", "k", "v", 1, -3)
CALL(key_request, SYS_request_key, "user", "k", NULL, -3)
CALL(key_control, SYS_keyctl, 0, -3, 0)
CALL(userfaultfd, SYS_userfaultfd, 0)
CALL(memory_file, SYS_memfd_create, "x", 0)
CALL(shared_memory, SYS_shmget, 1, 4096, 01600)
CALL(semaphores, SYS_semget, 1, 1, 01600)
CALL(messages, SYS_msgget, 1, 01600)
CALL(message_queue, SYS_mq_open, "q", O_CREAT | O_RDWR, 0600, NULL)
CALL(handle_open, SYS_open_by_handle_at, AT_FDCWD, space, 0)
CALL(handle_name, SYS_name_to_handle_at, AT_FDCWD, "/work", space, space, 0)
CALL(splice_pages, SYS_vmsplice, 1, space, 1, 0)
CALL(tee_pages, SYS_tee, 1, 2, 16, 0)
CALL(notify_all, SYS_fanotify_init, 0, 0)
CALL(module, SYS_finit_module, stream, "", 0)
CALL(kexec, SYS_kexec_load, 0, 0, NULL, 0)
CALL(restart, SYS_reboot, 0xfee1dead, 672274793, RB_AUTOBOOT, NULL)
CALL(kernel_log, SYS_syslog, 2, space, sizeof space)
CALL(swap, SYS_swapon, "/work", 0)
CALL(account, SYS_acct, NULL)
CALL(host_name, SYS_sethostname, "x", 1)
CALL(clock_set, SYS_clock_settime, 0, space)
CALL(clock_tune, SYS_adjtimex, space)
CALL(person, SYS_personality, 0x0400000)
CALL(landlock, SYS_landlock_create_ruleset, space, 8, 0)
CALL(quota, SYS_quotactl, 0, NULL, 0, NULL)
#ifdef SYS_modify_ldt
CALL(segment, SYS_modify_ldt, 1, space, 16)
CALL(ports, SYS_ioperm, 0, 1, 1)
CALL(port_level, SYS_iopl, 3)
#endif

// Identity, limits, the seal itself.
CALL(user, SYS_setuid, 0)
CALL(user_all, SYS_setresuid, 0, 0, 0)
CALL(group_id, SYS_setgid, 0)
CALL(groups, SYS_setgroups, 0, NULL)
CALL(fs_user, SYS_setfsuid, 0)
CALL(capabilities, SYS_capset, space, space)
CALL(limit_old, SYS_setrlimit, RLIMIT_DATA, &boundless)
CALL(limit_new, SYS_prlimit64, 0, RLIMIT_DATA, &boundless, NULL)
CALL(limit_files, SYS_prlimit64, 0, RLIMIT_NOFILE, &boundless, NULL)
CALL(limit_of_parent, SYS_prlimit64, getppid(), RLIMIT_CPU, &boundless, NULL)
CALL(dumpable, SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)
CALL(outlive_parent, SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0, 0)
CALL(reaper, SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
CALL(keep_capabilities, SYS_prctl, PR_SET_KEEPCAPS, 1, 0, 0, 0)
CALL(ambient, SYS_prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0)
CALL(filter_again, SYS_seccomp, 1, 0, space)
CALL(signal_owner, SYS_fcntl, stream, F_SETOWN, 1)
CALL(pipe_size, SYS_fcntl, 1, F_SETPIPE_SZ, 1 << 20)
CALL(lease, SYS_fcntl, 1, F_SETLEASE, F_WRLCK)
CALL(terminal_input, SYS_ioctl, 0, 0x5412, "x")
CALL(interfaces, SYS_ioctl, stream, 0x8912, space)
CALL(device, SYS_mknodat, AT_FDCWD, "/work/mem", 020600, 0x101)
CALL(fifo, SYS_mknodat, AT_FDCWD, "/work/pipe", 010600, 0)
CALL(attribute, SYS_setxattr, "/work", "user.x", "y", 1, 0)
CALL(lock_memory, SYS_mlockall, 7)
CALL(shared_anonymous, SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)

#define ENTRY(name) {#name, name}
const struct probe_entry probe_calls[] = {ENTRY(socket_inet),
                                          ENTRY(socket_unix),
                                          ENTRY(socket_netlink),
                                          ENTRY(socket_pair),
                                          ENTRY(socket_connect),
                                          ENTRY(socket_bind),
                                          ENTRY(socket_accept),
                                          ENTRY(socket_sendmsg),
                                          ENTRY(socket_recvmsg),
                                          ENTRY(socket_sendto),
                                          ENTRY(socket_option),
                                          ENTRY(exec),
                                          ENTRY(exec_at),
                                          ENTRY(clone_process),
                                          ENTRY(clone_vm_only),
                                          ENTRY(clone_new_user),
                                          ENTRY(clone_three),
                                          ENTRY(unshare_user),
                                          ENTRY(unshare_mount),
                                          ENTRY(unshare_files),
                                          ENTRY(enter_namespace),
#ifdef SYS_fork
                                          ENTRY(fork_old),
                                          ENTRY(fork_vm),
#endif
                                          ENTRY(trace_me),
                                          ENTRY(trace_parent),
                                          ENTRY(trace_init),
                                          ENTRY(memory_read),
                                          ENTRY(memory_write),
                                          ENTRY(compare),
                                          ENTRY(pidfd),
                                          ENTRY(pidfd_steal),
                                          ENTRY(pidfd_signal),
                                          ENTRY(kill_parent),
                                          ENTRY(kill_init),
                                          ENTRY(kill_all),
                                          ENTRY(kill_group),
                                          ENTRY(kill_thread_of_parent),
                                          ENTRY(kill_any_thread),
                                          ENTRY(kill_queue),
                                          ENTRY(priority_of_all),
                                          ENTRY(affinity),
                                          ENTRY(session),
                                          ENTRY(group),
                                          ENTRY(wait_any),
                                          ENTRY(mount_tmpfs),
                                          ENTRY(mount_proc),
                                          ENTRY(unmount),
                                          ENTRY(root_change),
                                          ENTRY(root_pivot),
                                          ENTRY(mount_open),
                                          ENTRY(mount_tree),
                                          ENTRY(mount_move),
                                          ENTRY(io_uring),
                                          ENTRY(io_old),
                                          ENTRY(bpf),
                                          ENTRY(perf),
                                          ENTRY(key_add),
                                          ENTRY(key_request),
                                          ENTRY(key_control),
                                          ENTRY(userfaultfd),
                                          ENTRY(memory_file),
                                          ENTRY(shared_memory),
                                          ENTRY(semaphores),
                                          ENTRY(messages),
                                          ENTRY(message_queue),
                                          ENTRY(handle_open),
                                          ENTRY(handle_name),
                                          ENTRY(splice_pages),
                                          ENTRY(tee_pages),
                                          ENTRY(notify_all),
                                          ENTRY(module),
                                          ENTRY(kexec),
                                          ENTRY(restart),
                                          ENTRY(kernel_log),
                                          ENTRY(swap),
                                          ENTRY(account),
                                          ENTRY(host_name),
                                          ENTRY(clock_set),
                                          ENTRY(clock_tune),
                                          ENTRY(person),
                                          ENTRY(landlock),
                                          ENTRY(quota),
#ifdef SYS_modify_ldt
                                          ENTRY(segment),
                                          ENTRY(ports),
                                          ENTRY(port_level),
#endif
                                          ENTRY(user),
                                          ENTRY(user_all),
                                          ENTRY(group_id),
                                          ENTRY(groups),
                                          ENTRY(fs_user),
                                          ENTRY(capabilities),
                                          ENTRY(limit_old),
                                          ENTRY(limit_new),
                                          ENTRY(limit_files),
                                          ENTRY(limit_of_parent),
                                          ENTRY(dumpable),
                                          ENTRY(outlive_parent),
                                          ENTRY(reaper),
                                          ENTRY(keep_capabilities),
                                          ENTRY(ambient),
                                          ENTRY(filter_again),
                                          ENTRY(signal_owner),
                                          ENTRY(pipe_size),
                                          ENTRY(lease),
                                          ENTRY(terminal_input),
                                          ENTRY(interfaces),
                                          ENTRY(device),
                                          ENTRY(fifo),
                                          ENTRY(attribute),
                                          ENTRY(lock_memory),
                                          ENTRY(shared_anonymous),
                                          {0}};
