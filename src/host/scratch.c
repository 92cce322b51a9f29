#include "host/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
  cr_scratch_release(&made);
  return result;
}

struct walk {
  uint64_t bytes;
  uint64_t entries;
  int remove;
};

static void walk_directory(int directory, struct walk *walk, int depth);

static void visit(int parent, const char *name, struct walk *walk, int depth) {
  struct stat status;
  if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW)) return;
  walk->entries++;
  if (S_ISREG(status.st_mode)) walk->bytes += (uint64_t)status.st_blocks * 512;
  if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX) {
    if (walk->remove) fchmodat(parent, name, 0700, 0);
    int child = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child >= 0) walk_directory(child, walk, depth + 1);
  }
  if (walk->remove) unlinkat(parent, name, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
}

// Takes the descriptor.
static void walk_directory(int directory, struct walk *walk, int depth) {
  DIR *stream = fdopendir(directory);
  if (!stream) {
    close(directory);
    return;
  }
  for (struct dirent *entry; (entry = readdir(stream));)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      visit(directory, entry->d_name, walk, depth);
  closedir(stream);
}

void cr_scratch_usage(const struct cr_scratch *scratch, uint64_t *bytes, uint64_t *entries) {
  struct walk walk = {0};
  int work = openat(scratch->fd, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (work >= 0) walk_directory(work, &walk, 0);
  *bytes = walk.bytes;
  *entries = walk.entries;
}

void cr_scratch_release(struct cr_scratch *scratch) {
  if (scratch->fd >= 0) close(scratch->fd);
  if (scratch->path) {
    struct walk walk = {.remove = 1};
    int root = open(scratch->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (root >= 0) walk_directory(root, &walk, 0);
    rmdir(scratch->path);
    free(scratch->path);
  }
  *scratch = CR_NO_SCRATCH;
}
