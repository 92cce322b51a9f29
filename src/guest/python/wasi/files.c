// Calls on open descriptors.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guest/python/wasi/internal.h"

#define VECTORS 16
#define DIRENT_HEADER 24

// Translates the guest's list of (address, length) pairs; what does not fit is left to the next call. -1: out of
// bounds.
static int vectors(struct cr_wasi *wasi, uint32_t address, uint32_t count, struct iovec *out) {
  int used = 0;
  for (uint32_t i = 0; i < count && used < VECTORS; i++) {
    uint32_t pair[2];
    const void *at = wasi_at(wasi, address + i * (uint32_t)sizeof pair, sizeof pair);
    if (!at) return -1;
    memcpy(pair, at, sizeof pair);
    void *base = wasi_at(wasi, pair[0], pair[1]);
    if (!base) return -1;
    if (pair[1]) out[used++] = (struct iovec){base, pair[1]};
  }
  return used;
}

static uint32_t done(struct cr_wasi *wasi, ssize_t moved, uint32_t answer) {
  return moved < 0 ? wasi_errno_of(errno) : wasi_put32(wasi, answer, (uint32_t)moved);
}

static uint32_t fd_read(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file || !(file->rights & WASI_RIGHT_READ)) return WASI_BADF;
  struct iovec list[VECTORS];
  int count = vectors(wasi, (uint32_t)a[1].i32, (uint32_t)a[2].i32, list);
  if (count < 0) return WASI_FAULT;
  return done(wasi, readv(file->host, list, count), (uint32_t)a[3].i32);
}

// Guests take a short write to a stream for an error, so a stream is written to the end.
static ssize_t write_all(int host, struct iovec *list, int count) {
  ssize_t total = 0;
  for (int i = 0; i < count;) {
    ssize_t n = writev(host, list + i, count - i);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return total ? total : -1;
    total += n;
    for (; i < count && (size_t)n >= list[i].iov_len; i++) n -= (ssize_t)list[i].iov_len;
    if (i < count) list[i] = (struct iovec){(char *)list[i].iov_base + n, list[i].iov_len - (size_t)n};
  }
  return total;
}

static uint32_t fd_write(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file || !(file->rights & WASI_RIGHT_WRITE)) return WASI_BADF;
  struct iovec list[VECTORS];
  int count = vectors(wasi, (uint32_t)a[1].i32, (uint32_t)a[2].i32, list);
  if (count < 0) return WASI_FAULT;
  return done(wasi, write_all(file->host, list, count), (uint32_t)a[3].i32);
}

static uint32_t fd_pread(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file || !(file->rights & WASI_RIGHT_READ)) return WASI_BADF;
  struct iovec list[VECTORS];
  int count = vectors(wasi, (uint32_t)a[1].i32, (uint32_t)a[2].i32, list);
  if (count < 0) return WASI_FAULT;
  return done(wasi, preadv(file->host, list, count, a[3].i64), (uint32_t)a[4].i32);
}

static uint32_t fd_pwrite(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file || !(file->rights & WASI_RIGHT_WRITE)) return WASI_BADF;
  struct iovec list[VECTORS];
  int count = vectors(wasi, (uint32_t)a[1].i32, (uint32_t)a[2].i32, list);
  if (count < 0) return WASI_FAULT;
  return done(wasi, pwritev(file->host, list, count, a[3].i64), (uint32_t)a[4].i32);
}

static uint32_t fd_seek(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file) return WASI_BADF;
  static const int whences[] = {SEEK_SET, SEEK_CUR, SEEK_END};
  if ((uint32_t)a[2].i32 > 2) return WASI_INVAL;
  off_t at = lseek(file->host, a[1].i64, whences[a[2].i32]);
  return at < 0 ? wasi_errno_of(errno) : wasi_put64(wasi, (uint32_t)a[3].i32, (uint64_t)at);
}

static uint32_t fd_tell(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file) return WASI_BADF;
  off_t at = lseek(file->host, 0, SEEK_CUR);
  return at < 0 ? wasi_errno_of(errno) : wasi_put64(wasi, (uint32_t)a[1].i32, (uint64_t)at);
}

// The standard streams are the host's too: they stay open and as they are, whatever the guest does to them.
static int lent(const struct cr_wasi_file *file) { return file->host <= STDERR_FILENO; }

static const char *preopen_of(struct cr_wasi *wasi, uint32_t descriptor) {
  if (descriptor < CR_WASI_FIRST_PREOPEN || !wasi_file(wasi, descriptor)) return NULL;
  uint32_t index = descriptor - CR_WASI_FIRST_PREOPEN;
  return index < CR_WASI_PREOPENS ? wasi->preopens[index] : NULL;
}

static uint32_t fd_close(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file) return WASI_BADF;
  // A program that closes all descriptors it can think of keeps its files.
  if (preopen_of(wasi, (uint32_t)a[0].i32)) return WASI_SUCCESS;
  int result = lent(file) ? 0 : close(file->host);
  file->host = -1;
  return wasi_result(result);
}

static uint32_t fd_sync(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  return file ? wasi_result(fsync(file->host)) : WASI_BADF;
}

static uint32_t fd_datasync(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  return file ? wasi_result(fdatasync(file->host)) : WASI_BADF;
}

static uint32_t fd_advise(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  return wasi_file(wasi, (uint32_t)a[0].i32) ? WASI_SUCCESS : WASI_BADF;
}

static uint32_t fd_fdstat_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file) return WASI_BADF;
  int flags = file->type == WASI_DIRECTORY ? 0 : fcntl(file->host, F_GETFL);
  if (flags < 0) return wasi_errno_of(errno);
  uint16_t guest = 0;
  if (flags & O_APPEND) guest |= WASI_APPEND;
  if (flags & O_NONBLOCK) guest |= WASI_NONBLOCK;
  if (flags & O_DSYNC) guest |= WASI_DSYNC;
  uint8_t out[24] = {file->type};
  memcpy(out + 2, &guest, sizeof guest);
  memcpy(out + 8, &file->rights, sizeof file->rights);
  memcpy(out + 16, &file->rights, sizeof file->rights);
  void *at = wasi_at(wasi, (uint32_t)a[1].i32, sizeof out);
  if (!at) return WASI_FAULT;
  memcpy(at, out, sizeof out);
  return WASI_SUCCESS;
}

static uint32_t fd_fdstat_set_flags(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file) return WASI_BADF;
  if (lent(file) || file->type == WASI_DIRECTORY) return WASI_NOTSUP;
  int flags = fcntl(file->host, F_GETFL);
  if (flags < 0) return wasi_errno_of(errno);
  flags &= ~(O_APPEND | O_NONBLOCK);
  if (a[1].i32 & WASI_APPEND) flags |= O_APPEND;
  if (a[1].i32 & WASI_NONBLOCK) flags |= O_NONBLOCK;
  return wasi_result(fcntl(file->host, F_SETFL, flags));
}

static uint32_t fd_filestat_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  struct stat status;
  if (!file) return WASI_BADF;
  if (fstat(file->host, &status)) return wasi_errno_of(errno);
  return wasi_put_filestat(wasi, (uint32_t)a[1].i32, &status);
}

static uint32_t fd_filestat_set_size(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  if (!file || !(file->rights & WASI_RIGHT_WRITE)) return WASI_BADF;
  return wasi_result(ftruncate(file->host, a[1].i64));
}

static uint32_t fd_filestat_set_times(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  struct timespec times[2];
  if (!file) return WASI_BADF;
  if (wasi_times((uint64_t)a[1].i64, (uint64_t)a[2].i64, (uint32_t)a[3].i32, times)) return WASI_INVAL;
  return wasi_result(futimens(file->host, times));
}

static uint32_t fd_prestat_get(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  const char *name = preopen_of(wasi, (uint32_t)a[0].i32);
  if (!name) return WASI_BADF;
  uint32_t error = wasi_put32(wasi, (uint32_t)a[1].i32, 0);
  return error ? error : wasi_put32(wasi, (uint32_t)a[1].i32 + 4, (uint32_t)strlen(name));
}

static uint32_t fd_prestat_dir_name(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  const char *name = preopen_of(wasi, (uint32_t)a[0].i32);
  if (!name) return WASI_BADF;
  size_t length = strlen(name);
  if ((uint32_t)a[2].i32 < length) return WASI_NAMETOOLONG;
  void *at = wasi_at(wasi, (uint32_t)a[1].i32, length);
  if (!at) return WASI_FAULT;
  memcpy(at, name, length);
  return WASI_SUCCESS;
}

// What getdents64(2) gives.
struct entry {
  uint64_t inode;
  int64_t next;
  uint16_t size;
  uint8_t type;
  char name[];
};

static uint8_t type_of_entry(uint8_t type) { return wasi_filetype_of((uint32_t)type << 12); }

// One entry in the guest's form, cut where its buffer ends: the guest then asks again, from this entry on.
static size_t put_entry(uint8_t *out, size_t room, const struct entry *entry) {
  uint32_t length = (uint32_t)strlen(entry->name);
  uint8_t header[DIRENT_HEADER] = {0};
  memcpy(header, &entry->next, 8);
  memcpy(header + 8, &entry->inode, 8);
  memcpy(header + 16, &length, 4);
  header[20] = type_of_entry(entry->type);
  size_t head = room < sizeof header ? room : sizeof header;
  memcpy(out, header, head);
  size_t tail = room - head < length ? room - head : length;
  memcpy(out + head, entry->name, tail);
  return head + tail;
}

static uint32_t fd_readdir(struct cr_wasi *wasi, const wasmtime_val_raw_t *a) {
  struct cr_wasi_file *file = wasi_file(wasi, (uint32_t)a[0].i32);
  size_t room = (uint32_t)a[2].i32, used = 0;
  uint8_t *out = wasi_at(wasi, (uint32_t)a[1].i32, room);
  if (!file) return WASI_BADF;
  if (file->type != WASI_DIRECTORY) return WASI_NOTDIR;
  if (!out) return WASI_FAULT;
  if (lseek(file->host, a[3].i64, SEEK_SET) < 0) return wasi_errno_of(errno);
  while (used < room) {
    _Alignas(struct entry) char batch[4096];
    long got = syscall(SYS_getdents64, file->host, batch, sizeof batch);
    if (got < 0) return wasi_errno_of(errno);
    if (got == 0) break;
    for (long at = 0; at < got && used < room;) {
      const struct entry *entry = (const struct entry *)(batch + at);
      used += put_entry(out + used, room - used, entry);
      at += entry->size;
    }
  }
  return wasi_put32(wasi, (uint32_t)a[4].i32, (uint32_t)used);
}

const struct wasi_import wasi_file_imports[] = {
    {"fd_read", "iiii", fd_read},
    {"fd_write", "iiii", fd_write},
    {"fd_pread", "iiiIi", fd_pread},
    {"fd_pwrite", "iiiIi", fd_pwrite},
    {"fd_seek", "iIii", fd_seek},
    {"fd_tell", "ii", fd_tell},
    {"fd_close", "i", fd_close},
    {"fd_sync", "i", fd_sync},
    {"fd_datasync", "i", fd_datasync},
    {"fd_advise", "iIIi", fd_advise},
    {"fd_fdstat_get", "ii", fd_fdstat_get},
    {"fd_fdstat_set_flags", "ii", fd_fdstat_set_flags},
    {"fd_filestat_get", "ii", fd_filestat_get},
    {"fd_filestat_set_size", "iI", fd_filestat_set_size},
    {"fd_filestat_set_times", "iIIi", fd_filestat_set_times},
    {"fd_prestat_get", "ii", fd_prestat_get},
    {"fd_prestat_dir_name", "iii", fd_prestat_dir_name},
    {"fd_readdir", "iiiIi", fd_readdir},
    {0},
};
