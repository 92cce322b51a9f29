#include "guest/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "guest/control.h"
#include "guest/policy.h"

#define STATUS_SEAL_FAILED 125
#define OPEN_FILES 256
#define THREADS 24

struct cr_seal {
  enum cr_policy policy;
  int landlock_abi;
  unsigned short length;
  struct sock_filter *program;
};

static _Noreturn void refuse(const char *what) {
  dprintf(STDERR_FILENO, "code-runner: cannot seal the runtime: %s: %s\n", what, strerror(errno));
  _exit(STATUS_SEAL_FAILED);
}

static int landlock_abi(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi < 0 ? 0 : (int)abi;
}

static int load_program(struct cr_seal *seal, scmp_filter_ctx filter) {
  int memory = memfd_create("seccomp", MFD_CLOEXEC);
  if (memory < 0) return -1;
  int result = seccomp_export_bpf(filter, memory);
  off_t size = lseek(memory, 0, SEEK_END);
  if (!result && size > 0) {
    seal->program = cr_alloc((size_t)size);
    seal->length = (unsigned short)((size_t)size / sizeof *seal->program);
    if (pread(memory, seal->program, (size_t)size, 0) != size) result = -1;
  }
  close(memory);
  return size > 0 ? result : -1;
}

struct cr_seal *cr_seal_prepare(enum cr_policy policy) {
  struct cr_seal *seal = cr_alloc(sizeof *seal);
  scmp_filter_ctx filter = cr_policy_filter(policy);
  seal->policy = policy;
  seal->landlock_abi = landlock_abi();
  int failed = !filter || load_program(seal, filter);
  if (filter) seccomp_release(filter);
  if (!failed) return seal;
  dprintf(STDERR_FILENO, "code-runner: cannot build the system call filter: %s\n", strerror(errno));
  free(seal->program);
  free(seal);
  return NULL;
}

uint32_t cr_seal_layers(const struct cr_seal *seal) { return seal->landlock_abi > 0 ? CR_LAYER_LANDLOCK : 0; }

static void limit(int resource, rlim_t value, const char *what) {
  struct rlimit wanted = {value, value};
  if (setrlimit((__rlimit_resource_t)resource, &wanted)) refuse(what);
}

static void limit_resources(uint64_t data_limit) {
  limit(RLIMIT_DATA, data_limit, "RLIMIT_DATA");
  limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
  limit(RLIMIT_NOFILE, OPEN_FILES, "RLIMIT_NOFILE");
  limit(RLIMIT_MEMLOCK, 0, "RLIMIT_MEMLOCK");
  limit(RLIMIT_MSGQUEUE, 0, "RLIMIT_MSGQUEUE");
  limit(RLIMIT_SIGPENDING, 64, "RLIMIT_SIGPENDING");
}

// Everything below / may be read (there is nothing but /work), only /work may be changed. landlock(7)
static void confine_files(const struct cr_seal *seal) {
  if (seal->landlock_abi < 1) return;
  const uint64_t reading = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  uint64_t handled = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
#ifdef LANDLOCK_ACCESS_FS_REFER
  if (seal->landlock_abi >= 2) handled |= LANDLOCK_ACCESS_FS_REFER;
#endif
  const uint64_t never = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
                         LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO;
  struct landlock_ruleset_attr ruleset = {.handled_access_fs = handled};
  int rules = (int)syscall(SYS_landlock_create_ruleset, &ruleset, sizeof ruleset, 0);
  if (rules < 0) refuse("landlock_create_ruleset");
  struct landlock_path_beneath_attr root = {.allowed_access = reading, .parent_fd = open("/", O_PATH | O_CLOEXEC)};
  struct landlock_path_beneath_attr work = {.allowed_access = handled & ~never,
                                            .parent_fd = open(".", O_PATH | O_CLOEXEC)};
  if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &root, 0) ||
      syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &work, 0) ||
      syscall(SYS_landlock_restrict_self, rules, 0))
    refuse("landlock");
  close(root.parent_fd);
  close(work.parent_fd);
  close(rules);
}

// capabilities(7): an id without any, that can never gain one again.
static void drop_privileges(uint32_t uid) {
  for (unsigned long capability = 0; capability <= 63; capability++) (void)prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (uid) {
    if (setgroups(0, NULL) && errno != EPERM) refuse("setgroups");
    limit(RLIMIT_NPROC, THREADS, "RLIMIT_NPROC");
    if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid)) refuse("setresuid");
  }
  (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capset, &header, none)) refuse("capset");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)) refuse("PR_SET_DUMPABLE");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) refuse("PR_SET_NO_NEW_PRIVS");
}

// The filter lets a process signal only itself; its own id is known only here.
static void install_filter(const struct cr_seal *seal) {
  uint32_t self = (uint32_t)getpid();
  for (unsigned short i = 0; i < seal->length; i++)
    if (seal->program[i].k == CR_POLICY_SELF) seal->program[i].k = self;
  struct sock_fprog program = {.len = seal->length, .filter = seal->program};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) refuse("seccomp");
}

void cr_seal_apply(const struct cr_seal *seal, uint64_t data_limit, uint32_t uid, int die_with_zygote) {
  limit_resources(data_limit);
  drop_privileges(uid);
  if (die_with_zygote && prctl(PR_SET_PDEATHSIG, SIGKILL)) refuse("PR_SET_PDEATHSIG");
  confine_files(seal);
  install_filter(seal);
}
