// A runtime that was taken over speaks to the worker directly. Whatever it says costs only itself.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "guest/probe/probe.h"

static void garbage(int stream, struct probe_report *report) {
  char bytes[4096];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 131 + 7);
  report->returned = write(stream, bytes, sizeof bytes);
}

static void too_long(int stream, struct probe_report *report) {
  static const uint8_t header[CR_FRAME_HEADER] = {0xff, 0xff, 0xff, 0xff, CR_FRAME_DONE};
  report->returned = write(stream, header, sizeof header);
}

// A frame that never ends; the run goes on to its deadline.
static void half_a_frame(int stream, struct probe_report *report) {
  static const uint8_t header[CR_FRAME_HEADER] = {0, 0, 0, 1, CR_FRAME_DONE};
  report->returned = write(stream, header, sizeof header);
  for (;;) poll(NULL, 0, -1);
}

static void send_frame(int stream, uint8_t type, uint8_t flags, uint32_t id, const void *field, size_t length) {
  cr_autobuf out = CR_BUF(CR_FRAME_MAX + 64u);
  struct cr_frame_writer writer = cr_frame_begin(&out, type, flags, id);
  if (field) cr_frame_bytes(&writer, field, length);
  if (!cr_frame_end(&writer)) (void)cr_stream_write(stream, out.data, out.len);
}

static void done_of_nobody(int stream, struct probe_report *report) {
  (void)report;
  send_frame(stream, CR_FRAME_DONE, 0, 4242, "x", 1);
}

static void done_cut_short(int stream, struct probe_report *report) {
  (void)report;
  send_frame(stream, CR_FRAME_DONE, 0, 1, "x", 1);
}

static void unknown_type(int stream, struct probe_report *report) {
  (void)report;
  send_frame(stream, 200, 0, 1, "x", 1);
}

static void unknown_operation(int stream, struct probe_report *report) {
  (void)report;
  send_frame(stream, CR_FRAME_CALL, 99, 1, "x", 1);
}

// An answer of its own making for the first run of this runtime, then the same again.
static void finish_with(int stream, const char *value, size_t length, uint8_t kind, uint8_t flags, int64_t exit_code) {
  cr_autobuf out = CR_BUF(CR_FRAME_MAX + 64u);
  struct cr_frame_writer writer = cr_frame_begin(&out, CR_FRAME_DONE, flags, 1);
  cr_frame_number(&writer, exit_code);
  cr_frame_number(&writer, kind);
  cr_frame_bytes(&writer, value, length);
  cr_frame_text(&writer, "");
  cr_frame_text(&writer, "");
  if (!cr_frame_end(&writer)) (void)cr_stream_write(stream, out.data, out.len);
}

#define FINISH(name, value, kind, flags, exit_code)                        \
  static void name(int stream, struct probe_report *report) {              \
    (void)report;                                                          \
    finish_with(stream, value, sizeof(value) - 1, kind, flags, exit_code); \
  }

FINISH(value_not_json, "{\"a\":1}}", CR_RESULT_JSON, 0, 0)
FINISH(value_with_lines, "{\"a\":\"\n\"}", CR_RESULT_JSON, 0, 0)
FINISH(value_not_text, "\"\xff\xfe\"", CR_RESULT_JSON, 0, 0)
FINISH(value_forges_answer, "1}\n{\"id\":1,\"result\":1", CR_RESULT_JSON, 0, 0)
FINISH(value_empty, "", CR_RESULT_JSON, 0, 0)
FINISH(value_half_surrogate, "\"\\ud83d\"", CR_RESULT_JSON, 0, 0)
FINISH(kind_unknown, "1", 9, 0, 0)
FINISH(omitted_cut_short, "xx", CR_RESULT_OMITTED, 0, 0)
FINISH(exit_code_huge, "1", CR_RESULT_JSON, 0, 1ll << 40)
FINISH(exit_code_negative, "1", CR_RESULT_JSON, 0, -1)
FINISH(all_flags, "1", CR_RESULT_JSON, 255, 1)

static void value_deep(int stream, struct probe_report *report) {
  static char deep[2000000];
  (void)report;
  memset(deep, '[', sizeof deep / 2);
  memset(deep + sizeof deep / 2, ']', sizeof deep / 2);
  finish_with(stream, deep, sizeof deep, CR_RESULT_JSON, 0, 0);
}

// Ends its turn twice: the second answer is nobody's.
static void done_twice(int stream, struct probe_report *report) {
  (void)report;
  for (int i = 0; i < 2; i++) finish_with(stream, "7", 1, CR_RESULT_JSON, 0, 0);
}

// Asks without end and never reads an answer.
static void call_flood(int stream, struct probe_report *report) {
  static const char long_name[] = "some::function::that::is::not::there";
  (void)report;
  for (uint32_t id = 1;; id++) {
    cr_autobuf out = CR_BUF(4096);
    struct cr_frame_writer writer = cr_frame_begin(&out, CR_FRAME_CALL, CR_CALL_TRIGGER, id);
    cr_frame_text(&writer, long_name);
    cr_frame_text(&writer, "{}");
    cr_frame_text(&writer, "");
    cr_frame_number(&writer, 0);
    if (cr_frame_end(&writer) || cr_stream_write(stream, out.data, out.len)) return;
  }
}

static void mark_flood(int stream, struct probe_report *report) {
  static uint8_t marks[CR_FRAME_HEADER * 256];
  (void)report;
  for (size_t i = 0; i < 256; i++) marks[i * CR_FRAME_HEADER + 4] = CR_FRAME_MARK;
  while (!cr_stream_write(stream, marks, sizeof marks)) continue;
}

static void output_flood(int stream, struct probe_report *report) {
  static char block[1 << 16];
  (void)stream, (void)report;
  memset(block, 'x', sizeof block);
  while (write(1, block, sizeof block) > 0) (void)!write(2, block, sizeof block);
}

static void output_then_spin(int stream, struct probe_report *report) {
  (void)stream, (void)report;
  (void)!write(1, "last words", 10);
  for (;;) continue;
}

static void close_all(int stream, struct probe_report *report) {
  (void)stream, (void)report;
  for (int fd = 0; fd < 256; fd++) close(fd);
  for (;;) poll(NULL, 0, -1);
}

static void close_stream(int stream, struct probe_report *report) {
  (void)report;
  close(stream);
  for (;;) poll(NULL, 0, -1);
}

#define ENTRY(name) {#name, name}
const struct probe_entry probe_frames[] = {ENTRY(garbage),
                                           ENTRY(too_long),
                                           ENTRY(half_a_frame),
                                           ENTRY(done_of_nobody),
                                           ENTRY(done_cut_short),
                                           ENTRY(unknown_type),
                                           ENTRY(unknown_operation),
                                           ENTRY(value_not_json),
                                           ENTRY(value_with_lines),
                                           ENTRY(value_not_text),
                                           ENTRY(value_forges_answer),
                                           ENTRY(value_empty),
                                           ENTRY(value_half_surrogate),
                                           ENTRY(kind_unknown),
                                           ENTRY(omitted_cut_short),
                                           ENTRY(exit_code_huge),
                                           ENTRY(exit_code_negative),
                                           ENTRY(all_flags),
                                           ENTRY(value_deep),
                                           ENTRY(done_twice),
                                           ENTRY(call_flood),
                                           ENTRY(mark_flood),
                                           ENTRY(output_flood),
                                           ENTRY(output_then_spin),
                                           ENTRY(close_all),
                                           ENTRY(close_stream),
                                           {0}};
