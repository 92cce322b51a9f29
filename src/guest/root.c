#include "guest/root.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int set_number(int context, const char *key, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  return fsconfig(context, FSCONFIG_SET_STRING, key, text, 0);
}

static int mount_tmpfs(uint64_t bytes, uint64_t inodes, unsigned attributes) {
  int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0) return -1;
  int mount = -1;
  if (!set_number(context, "size", bytes) && !set_number(context, "nr_inodes", inodes) &&
      !fsconfig(context, FSCONFIG_SET_STRING, "mode", "0755", 0) &&
      !fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
    mount = fsmount(context, FSMOUNT_CLOEXEC, attributes | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  close(context);
  return mount;
}

// Over an existing directory first (any will do), because only an attached mount can become the root.
int cr_root_empty(void) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) return -1;
  int empty = mount_tmpfs(4096, 2, MOUNT_ATTR_RDONLY);
  if (empty < 0) return -1;
  int failed = move_mount(empty, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) || fchdir(empty) ||
               syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/");
  close(empty);
  return failed ? -1 : 0;
}

int cr_root_scratch(uint64_t bytes, uint64_t inodes, uint32_t uid) {
  int root = mount_tmpfs(bytes, inodes + 2, 0);
  if (root < 0) return -1;
  if (mkdirat(root, "work", 0700) || (uid && fchownat(root, "work", uid, uid, AT_SYMLINK_NOFOLLOW))) {
    close(root);
    return -1;
  }
  return root;
}

int cr_root_enter(int root) { return fchdir(root) || chroot(".") || chdir("/work") ? -1 : 0; }
