#include "host/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/id.h"
#include "base/mem.h"

#define DEPTH_MAX 512

static int make_parents(const char *root) {
  cr_autofree char *path = cr_strdup(root);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(path, 0755) && errno != EEXIST) return -1;
    *slash = '/';
  }
  return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

static int fill(struct cr_scratch *scratch, uint32_t owner) {
  // The root is the worker's and can be searched; only `work` is the runtime's.
  if (mkdir(scratch->path, 0700)) return -1;
  scratch->fd = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (scratch->fd < 0 || mkdirat(scratch->fd, "work", 0700)) return -1;
  if (!owner) return 0;
  return fchownat(scratch->fd, "work", owner, owner, AT_SYMLINK_NOFOLLOW) || fchown(scratch->fd, owner, owner) ? -1 : 0;
}

int cr_scratch_on_disk(const char *root, uint32_t uid, uint32_t owner, struct cr_scratch *scratch,
                       struct cr_error *err) {
  char name[CR_UUID_SIZE];
  cr_uuid(name);
  struct cr_scratch made = {.fd = -1, .uid = uid, .path = cr_format("%s/code-runner-%s", root, name)};
  if (!make_parents(root) && !fill(&made, owner)) {
    *scratch = made;
    return 0;
  }
  int result = cr_error_set(err, CR_ENGINE, "cannot create a scratch directory: %s", strerror(errno));
  if (made.fd >= 0) {
    unlinkat(made.fd, "work", AT_REMOVEDIR);
    close(made.fd);
  }
  rmdir(made.path);
  free(made.path);
  return result;
}

struct usage {
  uint64_t bytes;
  uint64_t entries;
  uint64_t most_bytes;
  uint64_t most_entries;
};

static int is_over(const struct usage *usage) {
  return usage->bytes > usage->most_bytes || usage->entries > usage->most_entries;
}

static int is_dots(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

static int open_directory(int parent, const char *name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Takes the descriptor. What is nested deeper than anybody needs counts as over every budget.
static void measure(int directory, struct usage *usage, int depth) {
  DIR *stream = fdopendir(directory);
  if (!stream) close(directory);
  for (struct dirent *entry; stream && !is_over(usage) && (entry = readdir(stream));) {
    struct stat status;
    if (is_dots(entry->d_name) || fstatat(dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
    usage->entries++;
    if (S_ISREG(status.st_mode)) usage->bytes += (uint64_t)status.st_blocks * 512;
    if (!S_ISDIR(status.st_mode)) continue;
    int child = depth < DEPTH_MAX ? open_directory(dirfd(stream), entry->d_name) : -1;
    if (child >= 0)
      measure(child, usage, depth + 1);
    else
      usage->entries = UINT64_MAX;
  }
  if (stream) closedir(stream);
}

static int remove_simply(int parent, const char *name) {
  return unlinkat(parent, name, 0) && unlinkat(parent, name, AT_REMOVEDIR) ? -1 : 0;
}

// Empties the directory `name` of `top`: files go, directories move up to `top`. So no depth is too deep.
static void flatten(int top, const char *name, unsigned *moved) {
  fchmodat(top, name, 0700, 0);
  int directory = open_directory(top, name);
  DIR *stream = directory >= 0 ? fdopendir(directory) : NULL;
  if (!stream && directory >= 0) close(directory);
  for (struct dirent *entry; stream && (entry = readdir(stream));) {
    if (is_dots(entry->d_name) || !remove_simply(dirfd(stream), entry->d_name)) continue;
    char up[32];
    snprintf(up, sizeof up, ".moved-%u", (*moved)++);
    fchmodat(dirfd(stream), entry->d_name, 0700, 0);
    renameat(dirfd(stream), entry->d_name, top, up);
  }
  if (stream) closedir(stream);
  unlinkat(top, name, AT_REMOVEDIR);
}

static void empty(int top) {
  unsigned moved = 0, before;
  do {
    before = moved;
    DIR *stream = fdopendir(dup(top));
    if (!stream) return;
    rewinddir(stream);
    for (struct dirent *entry; (entry = readdir(stream));)
      if (!is_dots(entry->d_name) && remove_simply(top, entry->d_name)) flatten(top, entry->d_name, &moved);
    closedir(stream);
  } while (moved != before);
}

int cr_scratch_over(int root, uint64_t bytes, uint64_t entries) {
  struct usage usage = {.most_bytes = bytes, .most_entries = entries};
  int work = open_directory(root, "work");
  if (work >= 0) measure(work, &usage, 0);
  return is_over(&usage);
}

struct removal {
  uv_work_t work;
  struct cr_scratch scratch;
};

static void remove_now(uv_work_t *work) {
  struct cr_scratch *scratch = &((struct removal *)work)->scratch;
  empty(scratch->fd);
  rmdir(scratch->path);
}

static void on_removed(uv_work_t *work, int status) {
  struct removal *removal = (struct removal *)work;
  (void)status;
  close(removal->scratch.fd);
  free(removal->scratch.path);
  free(removal);
}

void cr_scratch_release(struct cr_scratch *scratch, uv_loop_t *loop) {
  if (scratch->path) {
    struct removal *removal = cr_alloc(sizeof *removal);
    removal->scratch = *scratch;
    uv_queue_work(loop, &removal->work, remove_now, on_removed);
  } else if (scratch->fd >= 0) {
    close(scratch->fd);
  }
  *scratch = CR_NO_SCRATCH;
}
