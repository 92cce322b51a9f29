// Our WASI, called as a hostile guest would: every function directly, on a memory without a module.
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guest/python/engine.h"
#include "guest/python/wasi/internal.h"
#include "unit.h"

#define PAGES 2
#define SIZE (PAGES * 65536u)
#define ROOT 3

static struct cr_engine engine;
static char root[] = "/tmp/wasi-test.XXXXXX";

static const struct wasi_import *find(const char *name) {
  const struct wasi_import *const tables[] = {wasi_file_imports, wasi_path_imports, wasi_system_imports};
  for (int i = 0; i < 3; i++)
    for (const struct wasi_import *import = tables[i]; import->name; import++)
      if (!strcmp(import->name, name)) return import;
  fail_msg("no %s", name);
  return NULL;
}

#define CALL(name, ...) call(name, (int64_t[10]){__VA_ARGS__})
static uint32_t call(const char *name, const int64_t *arguments) {
  const struct wasi_import *import = find(name);
  wasmtime_val_raw_t values[10];
  memset(values, 0, sizeof values);
  for (size_t i = 0; import->types[i]; i++) {
    if (import->types[i] == 'I')
      values[i].i64 = arguments[i];
    else
      values[i].i32 = (int32_t)arguments[i];
  }
  return import->call(&engine.wasi, values);
}

static uint8_t *memory(uint32_t address) { return wasi_at(&engine.wasi, address, 1); }

static uint32_t number(uint32_t address) {
  uint32_t value;
  memcpy(&value, memory(address), sizeof value);
  return value;
}

static uint32_t text(uint32_t address, const char *value) {
  memcpy(memory(address), value, strlen(value));
  return (uint32_t)strlen(value);
}

#define PATH 1000
#define OTHER 6000
#define OUT 12000
#define DATA 20000
#define VECTOR 19000
#define RIGHTS_BOTH (WASI_RIGHT_READ | WASI_RIGHT_WRITE)

static uint32_t open_as(const char *path, uint32_t oflags, uint64_t rights, uint32_t *descriptor) {
  uint32_t error = CALL("path_open", ROOT, 1, PATH, text(PATH, path), oflags, (int64_t)rights, 0, 0, OUT);
  *descriptor = number(OUT);
  return error;
}

static uint32_t vector(uint32_t address, uint32_t length) {
  uint32_t pair[2] = {address, length};
  memcpy(memory(VECTOR), pair, sizeof pair);
  return VECTOR;
}

static uint32_t write_text(uint32_t descriptor, const char *value) {
  uint32_t length = text(DATA, value);
  return CALL("fd_write", descriptor, vector(DATA, length), 1, OUT);
}

static void make_file(const char *path, const char *content) {
  uint32_t descriptor;
  assert_int_equal(open_as(path, WASI_CREAT | WASI_TRUNC, RIGHTS_BOTH, &descriptor), 0);
  assert_int_equal(write_text(descriptor, content), 0);
  assert_int_equal(CALL("fd_close", descriptor), 0);
}

static int set_up(void **state) {
  struct cr_error err = {0};
  wasm_memorytype_t *type;
  (void)state;
  if (cr_engine_init(&engine, CR_ENGINE_FAST, &err)) return -1;
  if (wasmtime_memorytype_new(PAGES, true, PAGES, false, false, 16, &type)) return -1;
  if (wasmtime_memory_new(engine.context, type, &engine.wasi.memory)) return -1;
  wasm_memorytype_delete(type);
  if (!mkdtemp(root)) return -1;
  return cr_wasi_preopen(&engine.wasi, "/", open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk) {
  (void)status;
  (void)kind;
  (void)walk;
  return remove(path);
}

static int tear_down(void **state) {
  (void)state;
  wasmtime_linker_delete(engine.linker);
  wasmtime_store_delete(engine.store);
  wasm_engine_delete(engine.engine);
  return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void files_are_written_and_read(void **state) {
  uint32_t descriptor;
  (void)state;
  make_file("a", "hello");
  assert_int_equal(open_as("a", 0, WASI_RIGHT_READ, &descriptor), 0);
  assert_int_equal(CALL("fd_read", descriptor, vector(DATA, 100), 1, OUT), 0);
  assert_int_equal(number(OUT), 5);
  assert_memory_equal(memory(DATA), "hello", 5);
  assert_int_equal(CALL("fd_seek", descriptor, -2, 2, OUT), 0);
  assert_int_equal(number(OUT), 3);
  assert_int_equal(CALL("fd_tell", descriptor, OUT), 0);
  assert_int_equal(number(OUT), 3);
  assert_int_equal(CALL("fd_pread", descriptor, vector(DATA, 100), 1, 1, OUT), 0);
  assert_int_equal(number(OUT), 4);
  assert_int_equal(write_text(descriptor, "x"), WASI_BADF);
  assert_int_equal(CALL("fd_seek", descriptor, 0, 3, OUT), WASI_INVAL);
  assert_int_equal(CALL("fd_close", descriptor), 0);
  assert_int_equal(CALL("fd_close", descriptor), WASI_BADF);
}

// Whatever the path, and whatever link it goes through, it ends below the directory.
static void paths_do_not_leave(void **state) {
  static const char *const paths[] = {
      "../etc/passwd",       "../../../../../../etc/passwd", "/etc/passwd", "a/../../etc/passwd", "absolute/passwd",
      "relative/etc/passwd", "proc/self/root/etc/passwd"};
  uint32_t descriptor;
  (void)state;
  make_file("a", "x");
  (void)CALL("path_create_directory", ROOT, PATH, text(PATH, "proc"));
  assert_int_equal(CALL("path_symlink", PATH, text(PATH, "/etc"), ROOT, OTHER, text(OTHER, "absolute")), 0);
  assert_int_equal(CALL("path_symlink", PATH, text(PATH, "../../../.."), ROOT, OTHER, text(OTHER, "relative")), 0);
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    assert_int_not_equal(open_as(paths[i], 0, WASI_RIGHT_READ, &descriptor), 0);
    assert_int_not_equal(CALL("path_filestat_get", ROOT, 1, PATH, text(PATH, paths[i]), OUT), 0);
    assert_int_not_equal(CALL("path_unlink_file", ROOT, PATH, text(PATH, paths[i])), 0);
    assert_int_not_equal(CALL("path_rename", ROOT, PATH, text(PATH, paths[i]), ROOT, OTHER, text(OTHER, "b")), 0);
    assert_int_not_equal(CALL("path_link", ROOT, 0, PATH, text(PATH, paths[i]), ROOT, OTHER, text(OTHER, "b")), 0);
  }
  assert_int_not_equal(CALL("path_create_directory", ROOT, PATH, text(PATH, "absolute/x")), 0);
  assert_int_not_equal(CALL("path_symlink", PATH, text(PATH, "t"), ROOT, OTHER, text(OTHER, "absolute/x")), 0);
  // `..` of the root is the root, as everywhere.
  assert_int_equal(open_as("../../a", 0, WASI_RIGHT_READ, &descriptor), 0);
  assert_int_equal(CALL("fd_close", descriptor), 0);
}

static void paths_do_not_leave_an_opened_directory(void **state) {
  uint32_t directory;
  (void)state;
  make_file("a", "x");
  (void)CALL("path_create_directory", ROOT, PATH, text(PATH, "sub"));
  assert_int_equal(open_as("sub", WASI_OPEN_DIRECTORY, WASI_RIGHT_READDIR, &directory), 0);
  assert_int_equal(CALL("path_filestat_get", directory, 1, PATH, text(PATH, "../a"), OUT), WASI_NOTCAPABLE);
  assert_int_equal(CALL("path_filestat_get", directory, 1, PATH, text(PATH, "/a"), OUT), WASI_NOTCAPABLE);
  assert_int_equal(CALL("path_create_directory", directory, PATH, text(PATH, "in")), 0);
  assert_int_equal(CALL("path_remove_directory", ROOT, PATH, text(PATH, "sub/in/")), 0);
  assert_int_equal(CALL("fd_close", directory), 0);
}

static void links_inside_work(void **state) {
  uint32_t descriptor;
  (void)state;
  make_file("target", "t");
  assert_int_equal(CALL("path_symlink", PATH, text(PATH, "/target"), ROOT, OTHER, text(OTHER, "link")), 0);
  assert_int_equal(open_as("link", 0, WASI_RIGHT_READ, &descriptor), 0);
  assert_int_equal(CALL("fd_close", descriptor), 0);
  assert_int_equal(CALL("path_readlink", ROOT, PATH, text(PATH, "link"), DATA, 100, OUT), 0);
  assert_int_equal(number(OUT), 7);
  assert_memory_equal(memory(DATA), "/target", 7);
  assert_int_equal(CALL("path_filestat_get", ROOT, 0, PATH, text(PATH, "link"), OUT), 0);
  assert_int_equal(*memory(OUT + 16), WASI_SYMBOLIC_LINK);
  assert_int_equal(CALL("path_link", ROOT, 0, PATH, text(PATH, "target"), ROOT, OTHER, text(OTHER, "hard")), 0);
  assert_int_equal(CALL("path_rename", ROOT, PATH, text(PATH, "hard"), ROOT, OTHER, text(OTHER, "soft")), 0);
  assert_int_equal(CALL("path_unlink_file", ROOT, PATH, text(PATH, "soft")), 0);
  assert_int_equal(CALL("path_unlink_file", ROOT, PATH, text(PATH, "soft")), WASI_NOENT);
}

// Names longer than the buffer's rest are cut; the guest then asks again from the last whole entry.
static void directories_are_read_in_pieces(void **state) {
  uint32_t directory, seen = 0, used;
  uint64_t cookie = 0;
  char name[64];
  (void)state;
  (void)CALL("path_create_directory", ROOT, PATH, text(PATH, "many"));
  for (int i = 0; i < 200; i++) {
    snprintf(name, sizeof name, "many/a-file-with-a-name-%03d", i);
    make_file(name, "");
  }
  assert_int_equal(open_as("many", WASI_OPEN_DIRECTORY, WASI_RIGHT_READDIR, &directory), 0);
  do {
    assert_int_equal(CALL("fd_readdir", directory, DATA, 300, (int64_t)cookie, OUT), 0);
    used = number(OUT);
    assert_true(used <= 300);
    for (uint32_t at = 0; at + 24 <= used;) {
      uint32_t length = number(DATA + at + 16);
      if (at + 24 + length > used) break;
      memcpy(&cookie, memory(DATA + at), sizeof cookie);
      if (length == 22) seen++;
      at += 24 + length;
    }
  } while (used == 300);
  assert_int_equal(seen, 200);
  assert_int_equal(CALL("fd_close", directory), 0);
}

static void streams_and_preopens_survive_close(void **state) {
  (void)state;
  assert_int_equal(CALL("fd_close", ROOT), 0);
  assert_int_equal(CALL("path_filestat_get", ROOT, 1, PATH, text(PATH, "."), OUT), 0);
  int before = fcntl(STDERR_FILENO, F_GETFL);
  assert_int_equal(CALL("fd_fdstat_set_flags", 2, WASI_NONBLOCK), WASI_NOTSUP);
  assert_int_equal(CALL("fd_close", 2), 0);
  assert_int_equal(write_text(2, "x"), WASI_BADF);
  assert_int_equal(fcntl(STDERR_FILENO, F_GETFL), before);
  engine.wasi.files[2].host = STDERR_FILENO;
}

static void descriptors_run_out(void **state) {
  uint32_t descriptor = 0, opened = 0;
  (void)state;
  make_file("a", "x");
  while (!open_as("a", 0, WASI_RIGHT_READ, &descriptor)) opened++;
  assert_int_equal(open_as("a", 0, WASI_RIGHT_READ, &descriptor), WASI_MFILE);
  assert_int_equal(opened, CR_WASI_FILES - 4);
  for (uint32_t i = 0; i < opened; i++) assert_int_equal(CALL("fd_close", ROOT + 1 + i), 0);
}

static void sizes_and_times_are_set(void **state) {
  uint32_t descriptor;
  uint64_t size, modified;
  (void)state;
  make_file("a", "hello");
  assert_int_equal(open_as("a", 0, RIGHTS_BOTH, &descriptor), 0);
  assert_int_equal(CALL("fd_filestat_set_size", descriptor, 70000), 0);
  assert_int_equal(CALL("fd_filestat_set_times", descriptor, 0, 1234567890123456789, WASI_MTIM), 0);
  assert_int_equal(CALL("fd_filestat_get", descriptor, OUT), 0);
  memcpy(&size, memory(OUT + 32), sizeof size);
  memcpy(&modified, memory(OUT + 48), sizeof modified);
  assert_int_equal(size, 70000);
  assert_int_equal(modified, 1234567890123456789);
  assert_int_equal(CALL("path_filestat_set_times", ROOT, 1, PATH, text(PATH, "a"), 0, 5000000000, WASI_MTIM), 0);
  assert_int_equal(CALL("fd_filestat_get", descriptor, OUT), 0);
  memcpy(&modified, memory(OUT + 48), sizeof modified);
  assert_int_equal(modified, 5000000000);
  assert_int_equal(CALL("fd_filestat_set_times", descriptor, 0, 0, WASI_MTIM | WASI_MTIM_NOW), WASI_INVAL);
  assert_int_equal(CALL("fd_close", descriptor), 0);
}

static void clock_wish(uint32_t address, uint64_t userdata, uint32_t clock, uint64_t timeout, uint16_t flags) {
  uint8_t wish[48] = {0};
  memcpy(wish, &userdata, 8);
  memcpy(wish + 16, &clock, 4);
  memcpy(wish + 24, &timeout, 8);
  memcpy(wish + 40, &flags, 2);
  memcpy(memory(address), wish, sizeof wish);
}

static uint64_t milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void waits_end_when_due(void **state) {
  uint64_t started = milliseconds(), at, userdata;
  (void)state;
  clock_wish(DATA, 7, 1, 3600000000000, 0);
  clock_wish(DATA + 48, 8, 1, 30000000, 0);
  assert_int_equal(CALL("poll_oneoff", DATA, OUT, 2, PATH), 0);
  memcpy(&userdata, memory(OUT), sizeof userdata);
  assert_int_equal(number(PATH), 1);
  assert_int_equal(userdata, 8);
  assert_true(milliseconds() - started >= 29);
  assert_int_equal(CALL("clock_time_get", 0, 1, PATH), 0);
  memcpy(&at, memory(PATH), sizeof at);
  clock_wish(DATA, 9, 0, at - 5000000000, 1);
  assert_int_equal(CALL("poll_oneoff", DATA, OUT, 1, PATH), 0);
  assert_true(milliseconds() - started < 5000);
  assert_int_equal(CALL("poll_oneoff", DATA, OUT, 0, PATH), WASI_INVAL);
  assert_int_equal(CALL("poll_oneoff", DATA, OUT, 65, PATH), WASI_INVAL);
  clock_wish(DATA, 9, 77, 1, 0);
  assert_int_equal(CALL("poll_oneoff", DATA, OUT, 1, PATH), WASI_INVAL);
}

static void random_bytes_differ(void **state) {
  uint8_t zeros[64] = {0};
  (void)state;
  memset(memory(DATA), 0, 128);
  assert_int_equal(CALL("random_get", DATA, 64), 0);
  assert_int_equal(CALL("random_get", DATA + 64, 64), 0);
  assert_memory_not_equal(memory(DATA), zeros, 64);
  assert_memory_not_equal(memory(DATA), memory(DATA + 64), 64);
}

static void bad_paths_are_refused(void **state) {
  uint32_t descriptor;
  (void)state;
  assert_int_equal(open_as("", 0, WASI_RIGHT_READ, &descriptor), WASI_NOENT);
  memcpy(memory(PATH), "a\0b", 3);
  assert_int_equal(CALL("path_open", ROOT, 1, PATH, 3, 0, 0, 0, 0, OUT), WASI_INVAL);
  memset(memory(DATA), 'x', 5000);
  assert_int_equal(CALL("path_open", ROOT, 1, DATA, 5000, 0, 0, 0, 0, OUT), WASI_NAMETOOLONG);
  assert_int_equal(CALL("path_open", 1, 1, PATH, text(PATH, "a"), 0, 0, 0, 0, OUT), WASI_NOTDIR);
  assert_int_equal(CALL("path_open", 99, 1, PATH, text(PATH, "a"), 0, 0, 0, 0, OUT), WASI_BADF);
  assert_int_equal(CALL("path_open", -1, 1, PATH, text(PATH, "a"), 0, 0, 0, 0, OUT), WASI_BADF);
}

// An address outside is an error, never an access; nothing is left open by a call that fails at its end.
static void addresses_outside_are_faults(void **state) {
  uint32_t descriptor;
  (void)state;
  make_file("a", "hello");
  assert_int_equal(open_as("a", 0, RIGHTS_BOTH, &descriptor), 0);
  assert_int_equal(CALL("fd_read", descriptor, vector(SIZE - 3, 4), 1, OUT), WASI_FAULT);
  assert_int_equal(CALL("fd_write", descriptor, vector(0xfffffff0, 0x20), 1, OUT), WASI_FAULT);
  assert_int_equal(CALL("fd_read", descriptor, SIZE - 4, 1, OUT), WASI_FAULT);
  assert_int_equal(CALL("fd_read", descriptor, vector(DATA, 1), 1, SIZE - 3), WASI_FAULT);
  assert_int_equal(CALL("fd_filestat_get", descriptor, SIZE - 63), WASI_FAULT);
  assert_int_equal(CALL("fd_filestat_get", descriptor, SIZE - 64), 0);
  assert_int_equal(CALL("fd_fdstat_get", descriptor, SIZE - 23), WASI_FAULT);
  assert_int_equal(CALL("fd_prestat_dir_name", ROOT, SIZE, 1), WASI_FAULT);
  assert_int_equal(CALL("fd_readdir", ROOT, SIZE - 10, 20, 0, OUT), WASI_FAULT);
  assert_int_equal(CALL("random_get", SIZE - 10, 20), WASI_FAULT);
  assert_int_equal(CALL("clock_time_get", 0, 1, SIZE - 7), WASI_FAULT);
  assert_int_equal(CALL("poll_oneoff", SIZE - 47, OUT, 1, OUT), WASI_FAULT);
  assert_int_equal(CALL("path_open", ROOT, 1, SIZE, 1, 0, 0, 0, 0, OUT), WASI_FAULT);
  assert_int_equal(CALL("path_open", ROOT, 1, PATH, text(PATH, "a"), 0, WASI_RIGHT_READ, 0, 0, SIZE - 3), WASI_FAULT);
  assert_int_equal(engine.wasi.files[descriptor + 1].host, -1);
  assert_int_equal(CALL("fd_close", descriptor), 0);
}

// Any call with any arguments returns; a sanitizer sees the rest. Waits are left out: they may be long.
static void any_arguments_are_survived(void **state) {
  static const int64_t edges[] = {0,    1,        2,    3,          4,          5,         PATH,
                                  DATA, SIZE - 1, SIZE, 0x7fffffff, 0xffffffff, INT64_MAX, INT64_MIN};
  const struct wasi_import *const tables[] = {wasi_file_imports, wasi_path_imports, wasi_system_imports};
  (void)state;
  srandom(1);
  text(PATH, "a/../b");
  for (int round = 0; round < 200; round++)
    for (int t = 0; t < 3; t++)
      for (const struct wasi_import *import = tables[t]; import->name; import++) {
        if (!strcmp(import->name, "proc_exit") || !strcmp(import->name, "poll_oneoff")) continue;
        int64_t arguments[10];
        for (int i = 0; i < 10; i++) arguments[i] = edges[(size_t)random() % (sizeof edges / sizeof *edges)];
        if (arguments[0] <= 2) arguments[0] = ROOT + 1;
        assert_true(call(import->name, arguments) <= WASI_NOTCAPABLE);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(files_are_written_and_read),
      cmocka_unit_test(paths_do_not_leave),
      cmocka_unit_test(paths_do_not_leave_an_opened_directory),
      cmocka_unit_test(links_inside_work),
      cmocka_unit_test(directories_are_read_in_pieces),
      cmocka_unit_test(streams_and_preopens_survive_close),
      cmocka_unit_test(descriptors_run_out),
      cmocka_unit_test(sizes_and_times_are_set),
      cmocka_unit_test(waits_end_when_due),
      cmocka_unit_test(random_bytes_differ),
      cmocka_unit_test(bad_paths_are_refused),
      cmocka_unit_test(addresses_outside_are_faults),
      cmocka_unit_test(any_arguments_are_survived),
  };
  return cmocka_run_group_tests_name("wasi", tests, set_up, tear_down);
}
