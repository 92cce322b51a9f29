// iii.files: a flat directory, held by its descriptor, so that nothing the guest renames or mounts matters (contract
// 8).
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "guest/node/guest.h"

#define NAME_MAX_BYTES 255

static int is_device(const char *name) {
  static const char *const devices[] = {"con", "prn", "aux", "nul"};
  size_t length = strcspn(name, ".");
  for (size_t i = 0; length == 3 && i < 4; i++)
    if (!strncasecmp(name, devices[i], 3)) return 1;
  return length == 4 && (!strncasecmp(name, "com", 3) || !strncasecmp(name, "lpt", 3)) && name[3] >= '1' &&
         name[3] <= '9';
}

// What is wrong with a name, or NULL.
static const char *name_fault(const char *name, size_t length) {
  static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (!length) return "is empty";
  if (length > NAME_MAX_BYTES) return "is too long (max 255 bytes)";
  if (strspn(name, allowed) != length) return "may only have the characters A-Z a-z 0-9 . _ -";
  if (name[length - 1] == '.') return "must not end with a dot";
  return is_device(name) ? "is the name of a device" : NULL;
}

// Fills `name`, or throws.
static int take_name(napi_env env, napi_value value, char name[NAME_MAX_BYTES + 1]) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &length) != napi_ok) {
    throw_type_error(env, "a file name must be a string");
    return -1;
  }
  const char *fault = length > NAME_MAX_BYTES ? name_fault("", length) : NULL;
  if (!fault) {
    napi_get_value_string_utf8(env, value, name, NAME_MAX_BYTES + 1, &length);
    fault = name_fault(name, length);
  }
  if (!fault) return 0;
  char message[128];
  (void)!snprintf(message, sizeof message, "the file name %s", fault);
  throw_type_error(env, message);
  return -1;
}

static napi_value throw_about(napi_env env, const char *name, const char *what) {
  cr_autofree char *message = cr_format("iii.files: %s: %s", name, what);
  return throw_error(env, message);
}

// The state of a regular file; 0 when there is none, or something else by that name.
static int look(const char *name, struct stat *state) {
  return !fstatat(guest.runtime.scratch, name, state, AT_SYMLINK_NOFOLLOW) && S_ISREG(state->st_mode);
}

static DIR *open_directory(void) {
  int directory = openat(guest.runtime.scratch, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = directory < 0 ? NULL : fdopendir(directory);
  if (!entries && directory >= 0) close(directory);
  return entries;
}

struct entry {
  char name[NAME_MAX_BYTES + 1];
  int64_t bytes;
};

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

// All regular files; an array of struct entry.
static int read_entries(struct cr_buf *entries) {
  DIR *directory = open_directory();
  if (!directory) return -1;
  int failed = 0;
  for (struct dirent *at; !failed && (at = readdir(directory));) {
    struct stat state;
    struct entry entry = {0};
    if (!look(at->d_name, &state)) continue;
    memcpy(entry.name, at->d_name, strnlen(at->d_name, NAME_MAX_BYTES));
    entry.bytes = state.st_size;
    failed = cr_buf_append(entries, &entry, sizeof entry);
  }
  closedir(directory);
  return failed;
}

napi_value guest_files_list(napi_env env, napi_callback_info info) {
  (void)info;
  cr_autobuf buf = CR_BUF(64u << 20);
  if (read_entries(&buf)) return throw_about(env, ".", strerror(errno));
  struct entry *entries = (struct entry *)buf.data;
  size_t count = buf.len / sizeof *entries;
  uint32_t listed = 0;
  napi_value list;
  if (count) qsort(entries, count, sizeof *entries, by_name);
  napi_create_array(env, &list);
  for (size_t i = 0; i < count; i++) {
    if (name_fault(entries[i].name, strlen(entries[i].name))) continue;
    napi_property_descriptor properties[] = {
        {.utf8name = "name",
         .value = make_string(env, entries[i].name, strlen(entries[i].name)),
         .attributes = napi_default_jsproperty},
        {.utf8name = "bytes",
         .value = make_number(env, (double)entries[i].bytes),
         .attributes = napi_default_jsproperty},
    };
    char index[16];
    napi_value item;
    napi_create_object(env, &item);
    napi_define_properties(env, item, 2, properties);
    (void)!snprintf(index, sizeof index, "%u", listed++);
    napi_property_descriptor element = {.utf8name = index, .value = item, .attributes = napi_default_jsproperty};
    napi_define_properties(env, list, 1, &element);  // defined, not set: a poisoned Array.prototype has no say
  }
  return list;
}

// A descriptor and size of the file that the first argument names, or -1 with an exception.
static int open_to_read(napi_env env, napi_value value, char name[NAME_MAX_BYTES + 1], size_t *size) {
  struct stat state;
  if (take_name(env, value, name)) return -1;
  int file = openat(guest.runtime.scratch, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0 && !fstat(file, &state) && S_ISREG(state.st_mode)) {
    *size = (size_t)state.st_size;
    return file;
  }
  if (file >= 0) close(file);
  cr_autofree char *message = cr_format("iii.files: there is no file %s", name);
  throw_type_error(env, message);
  return -1;
}

static size_t read_all(int file, void *bytes, size_t size) {
  size_t have = 0;
  for (ssize_t got; have < size && (got = pread(file, (char *)bytes + have, size - have, (off_t)have)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    have += (size_t)got;
  }
  close(file);
  return have;
}

napi_value guest_files_read(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  char name[NAME_MAX_BYTES + 1];
  size_t size;
  void *bytes;
  napi_value buffer, array;
  int file = open_to_read(env, arguments.at[0], name, &size);
  if (file < 0) return NULL;
  if (napi_create_arraybuffer(env, size, &bytes, &buffer) != napi_ok) {
    close(file);
    return NULL;
  }
  size = read_all(file, bytes, size);
  napi_create_typedarray(env, napi_uint8_array, size, buffer, 0, &array);
  return array;
}

napi_value guest_files_read_text(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  char name[NAME_MAX_BYTES + 1];
  size_t size;
  int file = open_to_read(env, arguments.at[0], name, &size);
  if (file < 0) return NULL;
  cr_autobuf text = CR_BUF(size + 1);
  if (cr_buf_reserve(&text, size + 1)) {
    close(file);
    return throw_about(env, name, "out of memory");
  }
  text.len = read_all(file, text.data, size);
  return make_string(env, text.data, text.len);
}

napi_value guest_files_remove(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  char name[NAME_MAX_BYTES + 1];
  if (take_name(env, arguments.at[0], name)) return NULL;
  if (unlinkat(guest.runtime.scratch, name, 0) && errno != ENOENT) return throw_about(env, name, "is not a file");
  return make_undefined(env);
}

// The directory as it would be after the write.
static int over_quota(const char *name, size_t size, int64_t max_bytes, int64_t max_files) {
  cr_autobuf buf = CR_BUF(64u << 20);
  int64_t bytes = (int64_t)size, files = 1;
  if (read_entries(&buf)) return 1;
  const struct entry *entries = (const struct entry *)buf.data;
  for (size_t i = 0; i < buf.len / sizeof *entries; i++) {
    if (!strcmp(entries[i].name, name)) continue;
    bytes += entries[i].bytes;
    files++;
  }
  return bytes > max_bytes || files > max_files;
}

// Room is reserved first, so that a file is replaced as a whole or not at all. fallocate(2)
static int replace(int file, const void *bytes, size_t size) {
  if (size && fallocate(file, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) && errno != EOPNOTSUPP) return -1;
  for (size_t done = 0; done < size;) {
    ssize_t put = pwrite(file, (const char *)bytes + done, size - done, (off_t)done);
    if (put < 0 && errno != EINTR) return -1;
    if (put > 0) done += (size_t)put;
  }
  return ftruncate(file, (off_t)size);
}

static napi_value throw_quota(napi_env env, const char *name, int64_t max_bytes, int64_t max_files) {
  cr_autofree char *message = cr_format("iii.files: writing %s would exceed the quota of %lld bytes and %lld files",
                                        name, (long long)max_bytes, (long long)max_files);
  return throw_error(env, message);
}

static napi_value write_file(napi_env env, const char *name, const void *bytes, size_t size, const napi_value *limits) {
  int64_t max_bytes = to_number(env, limits[0]), max_files = to_number(env, limits[1]);
  struct stat state;
  int there = !fstatat(guest.runtime.scratch, name, &state, AT_SYMLINK_NOFOLLOW);
  if (there && !S_ISREG(state.st_mode)) return throw_about(env, name, "is not a file");
  if (over_quota(name, size, max_bytes, max_files)) return throw_quota(env, name, max_bytes, max_files);
  int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (there ? 0 : O_CREAT | O_EXCL);
  int file = openat(guest.runtime.scratch, name, flags, 0600);
  int failed = file < 0 || replace(file, bytes, size) ? errno : 0;
  if (file >= 0) close(file);
  if (!failed) return make_undefined(env);
  if (file >= 0 && !there) unlinkat(guest.runtime.scratch, name, 0);
  if (failed == ENOSPC || failed == EDQUOT) return throw_quota(env, name, max_bytes, max_files);
  return throw_about(env, name, strerror(failed));
}

napi_value guest_files_write(napi_env env, napi_callback_info info) {
  struct arguments arguments = take_arguments(env, info);
  char name[NAME_MAX_BYTES + 1];
  napi_valuetype type = napi_undefined;
  bool is_array = false;
  if (take_name(env, arguments.at[0], name)) return NULL;
  napi_typeof(env, arguments.at[1], &type);
  if (type == napi_string) {
    cr_autobuf text = CR_BUF(4ul << 30);
    return append_string(env, arguments.at[1], &text) ? NULL
                                                      : write_file(env, name, text.data, text.len, arguments.at + 2);
  }
  napi_is_typedarray(env, arguments.at[1], &is_array);
  napi_typedarray_type kind = napi_int8_array;
  void *bytes = NULL;
  size_t size = 0;
  if (is_array) napi_get_typedarray_info(env, arguments.at[1], &kind, &size, &bytes, NULL, NULL);
  if (kind != napi_uint8_array) return throw_type_error(env, "contents must be a string or a Uint8Array");
  return write_file(env, name, bytes, size, arguments.at + 2);
}
