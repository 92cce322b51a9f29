// Ways out of the private directory, and over its quota.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest/probe/probe.h"

#define DESCRIPTORS 256

static void note(struct probe_report *report, long returned) {
  report->returned = returned;
  report->error = returned < 0 ? errno : 0;
}

#define OPEN(name, path, flags)                               \
  static void name(int stream, struct probe_report *report) { \
    (void)stream;                                             \
    note(report, open(path, flags));                          \
  }

OPEN(host_file, "/etc/passwd", O_RDONLY)
OPEN(host_file_above, "../../../../../../etc/passwd", O_RDONLY)
OPEN(host_program, "/proc/self/exe", O_RDONLY)
OPEN(proc_status, "/proc/self/status", O_RDONLY)
OPEN(proc_memory, "/proc/self/mem", O_RDWR)
OPEN(proc_root, "/proc/1/root", O_RDONLY | O_DIRECTORY)
OPEN(proc_parent, "/proc/1/environ", O_RDONLY)
OPEN(system_files, "/sys/kernel", O_RDONLY)
OPEN(null_device, "/dev/null", O_RDWR)
OPEN(temporary, "/tmp/x", O_RDWR | O_CREAT)
OPEN(outside_work, "/x", O_RDWR | O_CREAT)

static void through_symlink(int stream, struct probe_report *report) {
  (void)stream;
  if (symlinkat("/etc/passwd", AT_FDCWD, "/work/link")) {
    note(report, -1);
    return;
  }
  note(report, open("/work/link", O_RDONLY));
}

static void through_hardlink(int stream, struct probe_report *report) {
  (void)stream;
  note(report, linkat(AT_FDCWD, "/proc/self/exe", AT_FDCWD, "/work/hard", AT_SYMLINK_FOLLOW));
}

static int leads_out(int directory) {
  int above = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = above < 0 ? NULL : fdopendir(above);
  int found = 0;
  for (struct dirent *entry; stream && (entry = readdir(stream));)
    found |= !strcmp(entry->d_name, "etc") || !strcmp(entry->d_name, "usr") || !strcmp(entry->d_name, "bin");
  if (stream)
    closedir(stream);
  else if (above >= 0)
    close(above);
  return found;
}

// Whatever descriptor a runtime inherits: none of them may be a directory from which the host's files can be reached.
static void every_descriptor(int stream, struct probe_report *report) {
  (void)stream;
  int open_ones = 0;
  for (int fd = 0; fd < DESCRIPTORS; fd++) {
    if (fcntl(fd, F_GETFD) < 0) continue;
    open_ones++;
    int file = openat(fd, "../../../../etc/passwd", O_RDONLY | O_CLOEXEC);
    if (file >= 0 || leads_out(fd)) {
      probe_say(report, "descriptor %d leads out ", fd);
      report->returned = -2;
    }
    if (file >= 0) close(file);
  }
  if (report->returned != -2) report->returned = open_ones;
}

static void change_directory_out(int stream, struct probe_report *report) {
  (void)stream;
  for (int i = 0; i < 64; i++)
    if (chdir("..") && errno == EPERM) break;
  note(report, open("etc/passwd", O_RDONLY));
}

// Fills the directory with one file; `returned` is how many MiB fitted.
static void fill(int stream, struct probe_report *report) {
  (void)stream;
  static char block[1 << 16];
  int file = open("/work/big", O_WRONLY | O_CREAT, 0600);
  long long written = 0;
  ssize_t n = 0;
  memset(block, 'x', sizeof block);
  while (file >= 0 && written < (4LL << 30) && (n = write(file, block, sizeof block)) > 0) written += n;
  report->error = n < 0 ? errno : 0;
  report->returned = (long)(written >> 20);
}

static void fill_with_holes(int stream, struct probe_report *report) {
  (void)stream;
  int file = open("/work/holes", O_WRONLY | O_CREAT, 0600);
  note(report, pwrite(file, "x", 1, 1LL << 40));
}

// `returned` is how many empty files fitted.
static void many_files(int stream, struct probe_report *report) {
  (void)stream;
  char name[32];
  int made = 0;
  for (; made < 100000; made++) {
    snprintf(name, sizeof name, "/work/f%d", made);
    int file = open(name, O_WRONLY | O_CREAT, 0600);
    if (file < 0) break;
    close(file);
  }
  report->error = errno;
  report->returned = made;
}

// Deleted files that are still open take room all the same.
static void unlinked_files(int stream, struct probe_report *report) {
  (void)stream;
  static char block[1 << 20];
  int fitted = 0;
  for (; fitted < 4096; fitted++) {
    int file = open("/work/gone", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0 || unlinkat(AT_FDCWD, "/work/gone", 0) || write(file, block, sizeof block) != sizeof block) break;
  }
  report->error = errno;
  report->returned = fitted;
}

static void deep_directories(int stream, struct probe_report *report) {
  (void)stream;
  int depth = 0;
  while (depth < 100000 && !mkdirat(AT_FDCWD, "d", 0700) && !syscall(SYS_chdir, "d")) depth++;
  report->error = errno;
  report->returned = depth;
}

static void set_user_bit(int stream, struct probe_report *report) {
  (void)stream;
  int file = open("/work/suid", O_WRONLY | O_CREAT, 0700);
  note(report, fchmod(file, 04755));
}

#define ENTRY(name) {#name, name}
const struct probe_entry probe_files[] = {ENTRY(host_file),
                                          ENTRY(host_file_above),
                                          ENTRY(host_program),
                                          ENTRY(proc_status),
                                          ENTRY(proc_memory),
                                          ENTRY(proc_root),
                                          ENTRY(proc_parent),
                                          ENTRY(system_files),
                                          ENTRY(null_device),
                                          ENTRY(temporary),
                                          ENTRY(outside_work),
                                          ENTRY(through_symlink),
                                          ENTRY(through_hardlink),
                                          ENTRY(every_descriptor),
                                          ENTRY(change_directory_out),
                                          ENTRY(fill),
                                          ENTRY(fill_with_holes),
                                          ENTRY(many_files),
                                          ENTRY(unlinked_files),
                                          ENTRY(deep_directories),
                                          ENTRY(set_user_bit),
                                          {0}};
