#include "guest/probe/probe.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct probe_entry *const tables[] = {probe_calls, probe_files, probe_memory, probe_frames};

void probe_say(struct probe_report *report, const char *format, ...) {
  size_t used = strlen(report->text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(report->text + used, sizeof report->text - used, format, arguments);
  va_end(arguments);
}

static probe_attempt *find(const char *name, size_t length) {
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (const struct probe_entry *entry = tables[t]; entry->name; entry++)
      if (strlen(entry->name) == length && !memcmp(entry->name, name, length)) return entry->attempt;
  return NULL;
}

static int answer(int stream, uint32_t id, const struct probe_report *report) {
  cr_autobuf out = CR_BUF(8192);
  char value[1024];
  const char *error = report->error ? strerrorname_np(report->error) : "";
  int length = snprintf(value, sizeof value, "{\"returned\":%ld,\"errno\":\"%s\",\"text\":\"%s\"}", report->returned,
                        error ? error : "?", report->text);
  struct cr_frame_writer writer = cr_frame_begin(&out, CR_FRAME_DONE, 0, id);
  cr_frame_number(&writer, 0);
  cr_frame_number(&writer, CR_RESULT_JSON);
  cr_frame_bytes(&writer, value, (size_t)length);
  cr_frame_text(&writer, "");
  cr_frame_text(&writer, "");
  return cr_frame_end(&writer) || cr_stream_write(stream, out.data, out.len);
}

static int pong(int stream, uint32_t id) {
  cr_autobuf out = CR_BUF(64);
  struct cr_frame_writer writer = cr_frame_begin(&out, CR_FRAME_PONG, 0, id);
  return cr_frame_end(&writer) || cr_stream_write(stream, out.data, out.len);
}

// State that a kept runtime holds between runs: the harness of the tests sees by it that a runtime is the same.
static long counter;

static int run(int stream, const struct cr_frame *frame) {
  struct cr_fields fields = cr_frame_fields(frame);
  const uint8_t *code;
  uint32_t length;
  if (cr_fields_bytes(&fields, &code, &length)) return -1;
  struct probe_report report = {.returned = ++counter};
  probe_attempt *attempt = find((const char *)code, length);
  if (attempt) {
    errno = 0;
    attempt(stream, &report);
  } else if (length != 5 || memcmp(code, "count", 5) != 0) {
    report.error = ENOSYS;
  }
  return answer(stream, frame->id, &report);
}

int main(int argc, char **argv) {
  const char *slash = strrchr(argv[0], '/');
  (void)argc;
  struct cr_zygote_options options = {
      .version = "probe",
      .policy = strcmp(slash ? slash + 1 : argv[0], "node") != 0 ? CR_POLICY_PYTHON : CR_POLICY_NODE,
  };
  struct cr_runtime runtime;
  if (cr_zygote_serve(&options, &runtime)) return 1;
  struct cr_buf in = CR_BUF(CR_FRAME_MAX + CR_FRAME_HEADER);
  struct cr_frame frame = {0};
  while (!cr_stream_read(runtime.stream, &in, &frame)) {
    if (frame.type == CR_FRAME_RUN && run(runtime.stream, &frame)) break;
    if (frame.type == CR_FRAME_PING && pong(runtime.stream, frame.id)) break;
  }
  _exit(0);
}
