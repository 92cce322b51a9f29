#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

#define LINE_MAX_BYTES (256u << 10)

static const char *const names[] = {"error", "warn", "info", "debug"};
static enum cr_log_level threshold = CR_LOG_INFO;

void cr_log_init(void) {
  const char *wanted = getenv("CODE_RUNNER_LOG");
  for (int i = 0; wanted && i <= CR_LOG_DEBUG; i++)
    if (!strcmp(wanted, names[i])) threshold = (enum cr_log_level)i;
}

int cr_log_enabled(enum cr_log_level level) { return level <= threshold; }

static void emit(struct cr_buf *line) {
  const uint8_t *at = line->data;
  for (size_t left = line->len; left;) {
    ssize_t sent = write(STDERR_FILENO, at, left);
    if (sent <= 0) return;
    at += sent;
    left -= (size_t)sent;
  }
}

static void begin(struct cr_buf *line, enum cr_log_level level) {
  struct timespec now;
  struct tm parts;
  char stamp[32];
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &parts);
  strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &parts);
  (void)cr_buf_printf(line, "%s.%03ldZ %-5s ", stamp, now.tv_nsec / 1000000, names[level]);
}

void cr_log(enum cr_log_level level, const char *format, ...) {
  if (!cr_log_enabled(level)) return;
  cr_autobuf line = CR_BUF(LINE_MAX_BYTES);
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  begin(&line, level);
  (void)cr_buf_puts(&line, text);
  (void)cr_buf_puts(&line, "\n");
  emit(&line);
}

void cr_log_guest(enum cr_log_level level, const char *what, const void *text, size_t length) {
  if (!cr_log_enabled(level)) return;
  cr_autobuf line = CR_BUF(LINE_MAX_BYTES);
  const unsigned char *bytes = text;
  begin(&line, level);
  (void)cr_buf_printf(&line, "%s: ", what);
  for (size_t i = 0; i < length && line.len < LINE_MAX_BYTES - 8; i++) {
    if (bytes[i] < 0x20 || bytes[i] == 0x7f)
      (void)cr_buf_printf(&line, "\\x%02x", bytes[i]);
    else
      (void)cr_buf_append(&line, bytes + i, 1);
  }
  (void)cr_buf_puts(&line, "\n");
  emit(&line);
}
