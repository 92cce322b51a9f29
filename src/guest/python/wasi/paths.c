// Calls on paths. Every path is resolved by the kernel below a directory of the guest, never by our own parsing.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/python/wasi/internal.h"

// A path of the guest, copied so that it cannot change, and the directory it starts from.
struct path {
  int directory;
  uint64_t resolve;
  char text[PATH_MAX];
};

static uint32_t take_path(struct cr_wasi *wasi, uint32_t descriptor, uint32_t address, uint32_t length,
                          struct path *path) {
  struct cr_wasi_file *file = wasi_file(wasi, descriptor);
  if (!file) return WASI_BADF;
  if (file->type != WASI_DIRECTORY) return WASI_NOTDIR;
  if (length >= sizeof path->text) return WASI_NAMETOOLONG;
  const char *text = wasi_at(wasi, address, length);
  if (!text) return WASI_FAULT;
  if (!length || memchr(text, 0, length)) return length ? WASI_INVAL : WASI_NOENT;
  memcpy(path->text, text, length);
  path->text[length] = 0;
  path->directory = file->host;
  // Below a preopened directory paths mean what they mean below a root directory; elsewhere none may leave.
  int preopened = descriptor >= CR_WASI_FIRST_PREOPEN && descriptor < CR_WASI_FIRST_PREOPEN + CR_WASI_PREOPENS &&
                  wasi->preopens[descriptor - CR_WASI_FIRST_PREOPEN];
  path->resolve = (preopened ? RESOLVE_IN_ROOT : RESOLVE_BENEATH) | RESOLVE_NO_MAGICLINKS;
  return WASI_SUCCESS;
}

static int open_path(const struct path *path, const char *text, uint64_t flags, uint64_t mode) {
  struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = path->resolve};
  int opened;
  // EAGAIN: a rename elsewhere came between, the kernel could not be sure (openat2(2)).
  do opened = (int)syscall(SYS_openat2, path->directory, text, &how, sizeof how);
  while (opened < 0 && (errno == EAGAIN || errno == EINTR));
  return opened;
}

// The directory that holds the last name of the path, for calls that cannot be told how to resolve. The name is "." or
// ".." only where the kernel refuses to act on it.
static int open_parent(struct path *path, const char **name) {
  size_t length = strlen(path->text);
  while (length > 1 && path->text[length - 1] == '/') path->text[--length] = 0;
  char *slash = strrchr(path->text, '/');
  if (!slash) {
    *name = path->text;
    return open_path(path, ".", O_PATH | O_DIRECTORY, 0);
  }
  *name = slash[1] ? slash + 1 : ".";
  if (slash == path->text) return open_path(path, "/", O_PATH | O_DIRECTORY, 0);
  *slash = 0;
  return open_path(path, path->text, O_PATH | O_DIRECTORY, 0);
}

static uint64_t open_flags(uint32_t oflags, uint32_t fdflags, uint64_t rights) {
  int writes = (rights & WASI_RIGHT_WRITE) != 0, reads = (rights & (WASI_RIGHT_READ | WASI_RIGHT_READDIR)) != 0;
  uint64_t flags = O_NOCTTY | (writes ? reads ? O_RDWR : O_WRONLY : O_RDONLY);
  if (oflags & WASI_CREAT) flags |= O_CREAT;
  if (oflags & WASI_OPEN_DIRECTORY) flags |= O_DIRECTORY;
  if (oflags & WASI_EXCL) flags |= O_EXCL;
  if (oflags & WASI_TRUNC) flags |= O_TRUNC;
  if (fdflags & WASI_APPEND) flags |= O_APPEND;
  if (fdflags & WASI_NONBLOCK) flags |= O_NONBLOCK;
  if (fdflags & (WASI_DSYNC | WASI_RSYNC | WASI_SYNC)) flags |= O_DSYNC;
  return flags;
}

static uint32_t path_open(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct path path;
  uint32_t error = take_path(wasi, (uint32_t)a[0].i32, (uint32_t)a[2].i32, (uint32_t)a[3].i32, &path);
  if (error) return error;
  uint64_t rights = (uint64_t)a[5].i64;
  uint64_t flags = open_flags((uint32_t)a[4].i32, (uint32_t)a[7].i32, rights);
  if (!(a[1].i32 & WASI_SYMLINK_FOLLOW)) flags |= O_NOFOLLOW;
  struct stat status;
  int host = open_path(&path, path.text, flags, flags & O_CREAT ? 0600 : 0);
  if (host < 0) return wasi_errno_of(errno);
  uint8_t type = fstat(host, &status) ? WASI_UNKNOWN : wasi_filetype_of(status.st_mode);
  int descriptor = wasi_file_add(wasi, host, type, type == WASI_DIRECTORY ? WASI_RIGHTS_ALL : rights);
  error = descriptor < 0 ? WASI_MFILE : wasi_put32(wasi, (uint32_t)a[8].i32, (uint32_t)descriptor);
  if (!error) return WASI_SUCCESS;
  close(host);
  if (descriptor >= 0) wasi->files[descriptor].host = -1;
  return error;
}

// Opens what the path names, without access to it.
static int open_named(const struct path *path, uint32_t lookup) {
  return open_path(path, path->text, O_PATH | (lookup & WASI_SYMLINK_FOLLOW ? 0 : O_NOFOLLOW), 0);
}

static uint32_t path_filestat_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct path path;
  struct stat status;
  uint32_t error = take_path(wasi, (uint32_t)a[0].i32, (uint32_t)a[2].i32, (uint32_t)a[3].i32, &path);
  if (error) return error;
  int named = open_named(&path, (uint32_t)a[1].i32);
  if (named < 0) return wasi_errno_of(errno);
  error = wasi_result(fstat(named, &status));
  close(named);
  return error ? error : wasi_put_filestat(wasi, (uint32_t)a[4].i32, &status);
}

static uint32_t path_filestat_set_times(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct path path;
  struct timespec times[2];
  uint32_t error = take_path(wasi, (uint32_t)a[0].i32, (uint32_t)a[2].i32, (uint32_t)a[3].i32, &path);
  if (error) return error;
  if (wasi_times((uint64_t)a[4].i64, (uint64_t)a[5].i64, (uint32_t)a[6].i32, times)) return WASI_INVAL;
  int named = open_named(&path, (uint32_t)a[1].i32);
  if (named < 0) return wasi_errno_of(errno);
  error = wasi_result(utimensat(named, "", times, AT_EMPTY_PATH));
  close(named);
  return error;
}

// Resolves to a directory and a name in it, and acts on those.
static uint32_t in_parent(struct cr_wasi *wasi, uint32_t descriptor, uint32_t address, uint32_t length,
                          int (*act)(int directory, const char *name, const void *of), const void *of) {
  struct path path;
  const char *name;
  uint32_t error = take_path(wasi, descriptor, address, length, &path);
  if (error) return error;
  int parent = open_parent(&path, &name);
  if (parent < 0) return wasi_errno_of(errno);
  error = wasi_result(act(parent, name, of));
  close(parent);
  return error;
}

static int make_directory(int directory, const char *name, const void *of) {
  (void)of;
  return mkdirat(directory, name, 0700);
}

static int remove_directory(int directory, const char *name, const void *of) {
  (void)of;
  return unlinkat(directory, name, AT_REMOVEDIR);
}

static int remove_file(int directory, const char *name, const void *of) {
  (void)of;
  return unlinkat(directory, name, 0);
}

static int make_symlink(int directory, const char *name, const void *target) {
  return symlinkat(target, directory, name);
}

static uint32_t path_create_directory(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  return in_parent(wasi, (uint32_t)a[0].i32, (uint32_t)a[1].i32, (uint32_t)a[2].i32, make_directory, NULL);
}

static uint32_t path_remove_directory(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  return in_parent(wasi, (uint32_t)a[0].i32, (uint32_t)a[1].i32, (uint32_t)a[2].i32, remove_directory, NULL);
}

static uint32_t path_unlink_file(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  return in_parent(wasi, (uint32_t)a[0].i32, (uint32_t)a[1].i32, (uint32_t)a[2].i32, remove_file, NULL);
}

static uint32_t path_symlink(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  char target[PATH_MAX];
  uint32_t length = (uint32_t)a[1].i32;
  if (length >= sizeof target) return WASI_NAMETOOLONG;
  const char *from = wasi_at(wasi, (uint32_t)a[0].i32, length);
  if (!from) return WASI_FAULT;
  memcpy(target, from, length);
  target[length] = 0;
  return in_parent(wasi, (uint32_t)a[2].i32, (uint32_t)a[3].i32, (uint32_t)a[4].i32, make_symlink, target);
}

struct link {
  int directory;
  char *buffer;
  const char *name;
  ssize_t length;
  size_t room;
};

static int read_link(int directory, const char *name, const void *of) {
  struct link *link = *(struct link *const *)of;
  link->length = readlinkat(directory, name, link->buffer, link->room);
  return link->length < 0 ? -1 : 0;
}

static uint32_t path_readlink(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct link link = {.room = (uint32_t)a[4].i32}, *of = &link;
  link.buffer = wasi_at(wasi, (uint32_t)a[3].i32, link.room);
  if (!link.buffer) return WASI_FAULT;
  uint32_t error = in_parent(wasi, (uint32_t)a[0].i32, (uint32_t)a[1].i32, (uint32_t)a[2].i32, read_link, &of);
  return error ? error : wasi_put32(wasi, (uint32_t)a[5].i32, (uint32_t)link.length);
}

static int rename_from(int directory, const char *name, const void *of) {
  const struct link *from = of;
  return renameat(from->directory, from->name, directory, name);
}

static int link_from(int directory, const char *name, const void *of) {
  const struct link *from = of;
  return linkat(from->directory, from->name, directory, name, 0);
}

// Both ends of a rename or link: descriptor, address, length of each in `a`.
static uint32_t from_to(struct cr_wasi *wasi, const wasmtime_val_raw_t *old, const wasmtime_val_raw_t *new,
                        int (*act)(int directory, const char *name, const void *of)) {
  struct path path;
  struct link from = {0};
  uint32_t error = take_path(wasi, (uint32_t)old[0].i32, (uint32_t)old[1].i32, (uint32_t)old[2].i32, &path);
  if (error) return error;
  from.directory = open_parent(&path, &from.name);
  if (from.directory < 0) return wasi_errno_of(errno);
  error = in_parent(wasi, (uint32_t)new[0].i32, (uint32_t)new[1].i32, (uint32_t)new[2].i32, act, &from);
  close(from.directory);
  return error;
}

static uint32_t path_rename(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  return from_to(wasi, a, a + 3, rename_from);
}

static uint32_t path_link(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  wasmtime_val_raw_t old[] = {a[0], a[2], a[3]};
  return from_to(wasi, old, a + 4, link_from);
}

const struct wasi_import wasi_path_imports[] = {
    {"path_open", "iiiiiIIii", path_open},
    {"path_filestat_get", "iiiii", path_filestat_get},
    {"path_filestat_set_times", "iiiiIIi", path_filestat_set_times},
    {"path_create_directory", "iii", path_create_directory},
    {"path_remove_directory", "iii", path_remove_directory},
    {"path_unlink_file", "iii", path_unlink_file},
    {"path_symlink", "iiiii", path_symlink},
    {"path_readlink", "iiiiii", path_readlink},
    {"path_rename", "iiiiii", path_rename},
    {"path_link", "iiiiiii", path_link},
    {0},
};
