// Shared by the parts of our WASI: numbers of the ABI, and how guest memory is reached.
#pragma once
#include "guest/python/wasi/wasi.h"

enum wasi_errno {
  WASI_SUCCESS = 0,
  WASI_2BIG = 1,
  WASI_ACCES = 2,
  WASI_AGAIN = 6,
  WASI_BADF = 8,
  WASI_BUSY = 10,
  WASI_DQUOT = 19,
  WASI_EXIST = 20,
  WASI_FAULT = 21,
  WASI_FBIG = 22,
  WASI_INTR = 27,
  WASI_INVAL = 28,
  WASI_IO = 29,
  WASI_ISDIR = 31,
  WASI_LOOP = 32,
  WASI_MFILE = 33,
  WASI_MLINK = 34,
  WASI_NAMETOOLONG = 37,
  WASI_NODEV = 43,
  WASI_NOENT = 44,
  WASI_NOMEM = 48,
  WASI_NOSPC = 51,
  WASI_NOSYS = 52,
  WASI_NOTDIR = 54,
  WASI_NOTEMPTY = 55,
  WASI_NOTSOCK = 57,
  WASI_NOTSUP = 58,
  WASI_NXIO = 60,
  WASI_OVERFLOW = 61,
  WASI_PERM = 63,
  WASI_PIPE = 64,
  WASI_ROFS = 69,
  WASI_SPIPE = 70,
  WASI_TXTBSY = 74,
  WASI_XDEV = 75,
  WASI_NOTCAPABLE = 76,
};

enum wasi_filetype {
  WASI_UNKNOWN = 0,
  WASI_BLOCK_DEVICE = 1,
  WASI_CHARACTER_DEVICE = 2,
  WASI_DIRECTORY = 3,
  WASI_REGULAR_FILE = 4,
  WASI_SYMBOLIC_LINK = 7,
};

enum wasi_fdflag { WASI_APPEND = 1, WASI_DSYNC = 2, WASI_NONBLOCK = 4, WASI_RSYNC = 8, WASI_SYNC = 16 };
enum wasi_oflag { WASI_CREAT = 1, WASI_OPEN_DIRECTORY = 2, WASI_EXCL = 4, WASI_TRUNC = 8 };
enum wasi_fstflag { WASI_ATIM = 1, WASI_ATIM_NOW = 2, WASI_MTIM = 4, WASI_MTIM_NOW = 8 };

#define WASI_RIGHT_READ (1ull << 1)
#define WASI_RIGHT_SEEK (1ull << 2)
#define WASI_RIGHT_TELL (1ull << 5)
#define WASI_RIGHT_WRITE (1ull << 6)
#define WASI_RIGHT_READDIR (1ull << 14)
#define WASI_RIGHTS_ALL ((1ull << 30) - 1)
#define WASI_SYMLINK_FOLLOW 1u
#define WASI_FROZEN_TIME 1700000000000000000ull

// One imported function. `types`: its parameters, i = i32, I = i64.
struct wasi_import {
  const char *name;
  const char *types;
  uint32_t (*call)(struct cr_wasi *wasi, const wasmtime_val_raw_t *arguments);
};

extern const struct wasi_import wasi_file_imports[];
extern const struct wasi_import wasi_path_imports[];
extern const struct wasi_import wasi_system_imports[];

// `length` bytes of guest memory at `address`, or NULL when they are not all there.
void *wasi_at(struct cr_wasi *wasi, uint32_t address, uint64_t length);
// Stores a number there; WASI_SUCCESS or WASI_FAULT.
uint32_t wasi_put32(struct cr_wasi *wasi, uint32_t address, uint32_t value);
uint32_t wasi_put64(struct cr_wasi *wasi, uint32_t address, uint64_t value);

// NULL when the guest has no such descriptor.
struct cr_wasi_file *wasi_file(struct cr_wasi *wasi, uint32_t descriptor);
// The lowest free descriptor of the guest for `host`, or -1 (then `host` is still the caller's).
int wasi_file_add(struct cr_wasi *wasi, int host, uint8_t type, uint64_t rights);

uint32_t wasi_errno_of(int host_errno);
// 0 becomes WASI_SUCCESS, anything else the code of errno.
uint32_t wasi_result(int result);

struct stat;
struct timespec;
uint8_t wasi_filetype_of(uint32_t mode);
uint32_t wasi_put_filestat(struct cr_wasi *wasi, uint32_t address, const struct stat *from);
// What fd_filestat_set_times and path_filestat_set_times ask for, as utimensat(2) wants it. 0 or -1 (flags clash).
int wasi_times(uint64_t atim, uint64_t mtim, uint32_t flags, struct timespec times[2]);
