#include "bus/engine/store.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

static int fail(struct cr_error *err, const char *what, const char *path) {
  return cr_error_set(err, CR_ENGINE, "cannot %s %s: %s", what, path, strerror(errno));
}

static int write_all(int fd, const char *bytes, size_t length) {
  while (length) {
    ssize_t count = write(fd, bytes, length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return -1;
    bytes += count;
    length -= (size_t)count;
  }
  return 0;
}

static int sync_directory(const char *path) {
  cr_autofree char *copy = cr_strdup(path);
  int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  int failed = fsync(fd);
  close(fd);
  return failed;
}

int cr_store_write(const char *path, const void *bytes, size_t length, struct cr_error *err) {
  cr_autofree char *beside = cr_format("%s.tmp", path);
  int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(err, "create", beside);
  int failed = write_all(fd, bytes, length) || fsync(fd);
  int saved = errno;
  if (close(fd) && !failed) failed = 1, saved = errno;
  errno = saved;
  if (failed) return fail(err, "write", beside);
  if (rename(beside, path)) return fail(err, "replace", path);
  if (sync_directory(path)) return fail(err, "sync the directory of", path);
  return 0;
}

int cr_store_read(const char *path, struct cr_buf *out, struct cr_error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return 1;
  if (fd < 0) return fail(err, "open", path);
  char piece[65536];
  ssize_t count;
  while ((count = read(fd, piece, sizeof piece)) > 0 || (count < 0 && errno == EINTR))
    if (count > 0 && cr_buf_append(out, piece, (size_t)count)) {
      count = -1;
      break;
    }
  int saved = errno;
  close(fd);
  errno = saved;
  return count < 0 ? fail(err, "read", path) : 0;
}
