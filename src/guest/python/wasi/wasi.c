#include "guest/python/wasi/wasi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "guest/python/wasi/internal.h"

#define NANOSECONDS 1000000000ull

void *wasi_at(struct cr_wasi *wasi, uint32_t address, uint64_t length) {
  uint64_t size = wasmtime_memory_data_size(wasi->context, &wasi->memory);
  if (length > size || address > size - length) return NULL;
  return wasmtime_memory_data(wasi->context, &wasi->memory) + address;
}

uint32_t wasi_put32(struct cr_wasi *wasi, uint32_t address, uint32_t value) {
  void *at = wasi_at(wasi, address, sizeof value);
  if (!at) return WASI_FAULT;
  memcpy(at, &value, sizeof value);
  return WASI_SUCCESS;
}

uint32_t wasi_put64(struct cr_wasi *wasi, uint32_t address, uint64_t value) {
  void *at = wasi_at(wasi, address, sizeof value);
  if (!at) return WASI_FAULT;
  memcpy(at, &value, sizeof value);
  return WASI_SUCCESS;
}

struct cr_wasi_file *wasi_file(struct cr_wasi *wasi, uint32_t descriptor) {
  if (descriptor >= CR_WASI_FILES || wasi->files[descriptor].host < 0) return NULL;
  return &wasi->files[descriptor];
}

int wasi_file_add(struct cr_wasi *wasi, int host, uint8_t type, uint64_t rights) {
  for (int i = 0; i < CR_WASI_FILES; i++) {
    if (wasi->files[i].host >= 0) continue;
    wasi->files[i] = (struct cr_wasi_file){.host = host, .type = type, .rights = rights};
    return i;
  }
  return -1;
}

uint32_t wasi_errno_of(int host_errno) {
  static const struct {
    int host;
    uint8_t guest;
  } table[] = {
      {E2BIG, WASI_2BIG},
      {EACCES, WASI_ACCES},
      {EAGAIN, WASI_AGAIN},
      {EBADF, WASI_BADF},
      {EBUSY, WASI_BUSY},
      {EDQUOT, WASI_DQUOT},
      {EEXIST, WASI_EXIST},
      {EFAULT, WASI_FAULT},
      {EINTR, WASI_INTR},
      {EINVAL, WASI_INVAL},
      {EIO, WASI_IO},
      {EISDIR, WASI_ISDIR},
      {ELOOP, WASI_LOOP},
      {EMFILE, WASI_MFILE},
      {ENFILE, WASI_MFILE},
      {EMLINK, WASI_MLINK},
      {ENAMETOOLONG, WASI_NAMETOOLONG},
      {ENODEV, WASI_NODEV},
      {ENOENT, WASI_NOENT},
      {ENOMEM, WASI_NOMEM},
      {ENOSPC, WASI_NOSPC},
      {ENOSYS, WASI_NOSYS},
      {ENOTDIR, WASI_NOTDIR},
      {ENOTEMPTY, WASI_NOTEMPTY},
      {EOPNOTSUPP, WASI_NOTSUP},
      {ENXIO, WASI_NXIO},
      {EOVERFLOW, WASI_OVERFLOW},
      {EPERM, WASI_PERM},
      {EPIPE, WASI_PIPE},
      {EROFS, WASI_ROFS},
      {ESPIPE, WASI_SPIPE},
      {ETXTBSY, WASI_TXTBSY},
      {EXDEV, WASI_NOTCAPABLE},
      // A file over RLIMIT_FSIZE is over the quota too.
      {EFBIG, WASI_NOSPC},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].host == host_errno) return table[i].guest;
  return WASI_IO;
}

uint32_t wasi_result(int result) { return result == 0 ? WASI_SUCCESS : wasi_errno_of(errno); }

uint8_t wasi_filetype_of(uint32_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG: return WASI_REGULAR_FILE;
    case S_IFDIR: return WASI_DIRECTORY;
    case S_IFLNK: return WASI_SYMBOLIC_LINK;
    case S_IFCHR: return WASI_CHARACTER_DEVICE;
    case S_IFBLK: return WASI_BLOCK_DEVICE;
    default: return WASI_UNKNOWN;
  }
}

static uint64_t nanoseconds(struct timespec time) {
  return (uint64_t)time.tv_sec * NANOSECONDS + (uint64_t)time.tv_nsec;
}

uint32_t wasi_put_filestat(struct cr_wasi *wasi, uint32_t address, const struct stat *from) {
  uint64_t fields[] = {from->st_dev,
                       from->st_ino,
                       wasi_filetype_of(from->st_mode),
                       from->st_nlink,
                       (uint64_t)from->st_size,
                       nanoseconds(from->st_atim),
                       nanoseconds(from->st_mtim),
                       nanoseconds(from->st_ctim)};
  if (wasi->frozen) fields[0] = fields[1] = fields[5] = fields[6] = fields[7] = WASI_FROZEN_TIME;
  void *at = wasi_at(wasi, address, sizeof fields);
  if (!at) return WASI_FAULT;
  memcpy(at, fields, sizeof fields);
  return WASI_SUCCESS;
}

static int one_time(uint64_t given, int set, int now, struct timespec *time) {
  if (set && now) return -1;
  time->tv_sec = (time_t)(given / NANOSECONDS);
  time->tv_nsec = set ? (long)(given % NANOSECONDS) : now ? UTIME_NOW : UTIME_OMIT;
  return 0;
}

int wasi_times(uint64_t atim, uint64_t mtim, uint32_t flags, struct timespec times[2]) {
  return one_time(atim, flags & WASI_ATIM, flags & WASI_ATIM_NOW, &times[0]) ||
                 one_time(mtim, flags & WASI_MTIM, flags & WASI_MTIM_NOW, &times[1])
             ? -1
             : 0;
}

static void add_stream(struct cr_wasi *wasi, int host, uint64_t rights) {
  struct stat status;
  uint8_t type = fstat(host, &status) ? WASI_UNKNOWN : wasi_filetype_of(status.st_mode);
  // A character device that cannot seek is a terminal to the guest's C library, which then buffers by lines.
  if (type == WASI_CHARACTER_DEVICE) type = WASI_UNKNOWN;
  wasi->files[host] = (struct cr_wasi_file){.host = host, .type = type, .rights = rights};
}

void cr_wasi_init(struct cr_wasi *wasi, wasmtime_context_t *context) {
  *wasi = (struct cr_wasi){.context = context};
  for (int i = 0; i < CR_WASI_FILES; i++) wasi->files[i].host = -1;
  add_stream(wasi, STDIN_FILENO, WASI_RIGHT_READ);
  add_stream(wasi, STDOUT_FILENO, WASI_RIGHT_WRITE);
  add_stream(wasi, STDERR_FILENO, WASI_RIGHT_WRITE);
}

int cr_wasi_preopen(struct cr_wasi *wasi, const char *name, int host) {
  for (int i = 0; i < CR_WASI_PREOPENS; i++) {
    if (wasi->preopens[i]) continue;
    wasi->preopens[i] = name;
    wasi->files[CR_WASI_FIRST_PREOPEN + i] =
        (struct cr_wasi_file){.host = host, .type = WASI_DIRECTORY, .rights = WASI_RIGHTS_ALL};
    return 0;
  }
  return -1;
}

struct binding {
  struct cr_wasi *wasi;
  const struct wasi_import *import;
};

static wasm_trap_t *dispatch(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *values, size_t count) {
  const struct binding *binding = env;
  (void)caller;
  (void)count;
  values[0].i32 = (int32_t)binding->import->call(binding->wasi, values);
  return NULL;
}

static wasm_functype_t *type_of(const char *types, size_t results) {
  wasm_valtype_t *parameters[9], *result[1] = {results ? wasm_valtype_new(WASM_I32) : NULL};
  size_t count = 0;
  for (; types[count]; count++) parameters[count] = wasm_valtype_new(types[count] == 'I' ? WASM_I64 : WASM_I32);
  wasm_valtype_vec_t in, out;
  wasm_valtype_vec_new(&in, count, parameters);
  wasm_valtype_vec_new(&out, results, result);
  return wasm_functype_new(&in, &out);
}

static wasmtime_error_t *define_all(struct cr_wasi *wasi, wasmtime_linker_t *linker,
                                    const struct wasi_import *imports) {
  static const char module[] = "wasi_snapshot_preview1";
  for (const struct wasi_import *import = imports; import->name; import++) {
    struct binding *binding = cr_alloc(sizeof *binding);
    *binding = (struct binding){.wasi = wasi, .import = import};
    wasm_functype_t *type = type_of(import->types, strcmp(import->name, "proc_exit") != 0);
    wasmtime_error_t *error = wasmtime_linker_define_func_unchecked(
        linker, module, sizeof module - 1, import->name, strlen(import->name), type, dispatch, binding, free);
    wasm_functype_delete(type);
    if (error) return error;
  }
  return NULL;
}

wasmtime_error_t *cr_wasi_define(struct cr_wasi *wasi, wasmtime_linker_t *linker) {
  wasmtime_error_t *error = define_all(wasi, linker, wasi_file_imports);
  if (!error) error = define_all(wasi, linker, wasi_path_imports);
  if (!error) error = define_all(wasi, linker, wasi_system_imports);
  return error;
}
