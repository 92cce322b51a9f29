// worker/capture.h: contract 5.3. In bounded memory, what 5.2 says about the whole text.
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "worker/capture.h"
#include "worker/caps.h"

static void fill(char *text, size_t length) {
  static const char *const letters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\n"};
  size_t at = 0;
  for (unsigned i = 0; at < length; i++) {
    const char *letter = letters[(i * 7 + i / 3) % 5];
    size_t size = strlen(letter);
    if (at + size > length) letter = "z", size = 1;
    memcpy(text + at, letter, size);
    at += size;
  }
}

static void renders_like_the_whole(const char *text, size_t length, size_t piece, uint64_t cap) {
  struct cr_capture capture;
  cr_capture_start(&capture, cap);
  for (size_t at = 0; at < length; at += piece)
    cr_capture_write(&capture, text + at, at + piece < length ? piece : length - at);
  cr_capture_finish(&capture);
  cr_autobuf got = CR_BUF(1 << 20), expected = CR_BUF(1 << 20);
  assert_int_equal(cr_capture_render(&capture, "stdout", &got), 0);
  assert_int_equal(cr_caps_stream("stdout", cap ? cap : length, length, (const uint8_t *)text, length,
                                  (const uint8_t *)text, length, &expected),
                   0);
  assert_int_equal(capture.total, length);
  assert_int_equal(got.len, expected.len);
  assert_memory_equal(got.data, expected.data, got.len);
  cr_capture_free(&capture);
}

static void pieces_of_any_size_render_like_the_whole(void **state) {
  (void)state;
  static char text[60000];
  fill(text, sizeof text);
  static const size_t lengths[] = {0, 1, 7, 999, 1000, 1001, 16383, 16384, 16385, 40000, 60000};
  static const uint64_t caps[] = {0, 1, 7, 200, 1000, 16384, 40000};
  static const size_t pieces[] = {1, 3, 4095, 4096, 4097, 60000};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (size_t c = 0; c < sizeof caps / sizeof *caps; c++)
      for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        size_t length = lengths[l];
        while (length && length < sizeof text && (text[length] & 0xc0) == 0x80) length++;
        renders_like_the_whole(text, length, pieces[p], caps[c]);
      }
}

static void memory_is_bounded_and_the_total_is_true(void **state) {
  (void)state;
  static char block[1 << 16];
  struct cr_capture capture;
  cr_capture_start(&capture, 16384);
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 1600; i++) cr_capture_write(&capture, block, sizeof block);
  cr_capture_write(&capture, "THE END", 7);
  cr_capture_finish(&capture);
  assert_true(capture.total == 1600ull * sizeof block + 7);
  assert_true(capture.head.cap <= 16384);
  assert_true(capture.ring_size <= 16384);
  cr_autobuf out = CR_BUF(1 << 20);
  assert_int_equal(cr_capture_render(&capture, "stdout", &out), 0);
  assert_int_equal(out.len, 16384);
  assert_memory_equal(out.data + out.len - 7, "THE END", 7);
  assert_non_null(memmem(out.data, out.len, "was ~102400 KB", 14));
  cr_capture_free(&capture);
}

static void without_a_cap_the_ceiling_holds(void **state) {
  (void)state;
  static char block[1 << 20];
  static const uint64_t caps[] = {0, UINT64_MAX, CR_CAPTURE_CEILING + 1ull};
  memset(block, 'x', sizeof block);
  for (int c = 0; c < 3; c++) {
    struct cr_capture capture;
    cr_capture_start(&capture, caps[c]);
    for (int i = 0; i < 6; i++) cr_capture_write(&capture, block, sizeof block);
    cr_capture_finish(&capture);
    assert_true(capture.ceiling);
    cr_autobuf out = CR_BUF(16 << 20);
    assert_int_equal(cr_capture_render(&capture, "stderr", &out), 0);
    assert_int_equal(out.len, CR_CAPTURE_CEILING);
    cr_capture_free(&capture);
  }
}

static void bytes_that_are_not_text_are_replaced_before_they_are_counted(void **state) {
  (void)state;
  struct cr_capture capture;
  cr_capture_start(&capture, 100);
  cr_capture_write(&capture, "\xff\xfe", 2);
  cr_capture_write(&capture, "\xe2\x82", 2);
  cr_capture_finish(&capture);
  assert_int_equal(capture.total, 9);
  cr_autobuf out = CR_BUF(100);
  assert_int_equal(cr_capture_render(&capture, "stdout", &out), 0);
  assert_buf(&out, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  cr_capture_free(&capture);
}

static void line_after(const char *before, const char *text, const char *expected) {
  struct cr_capture capture;
  cr_capture_start(&capture, 1000);
  cr_capture_write(&capture, before, strlen(before));
  cr_capture_line(&capture, text, strlen(text));
  cr_capture_finish(&capture);
  cr_autobuf out = CR_BUF(1000);
  assert_int_equal(cr_capture_render(&capture, "stderr", &out), 0);
  assert_buf(&out, expected);
  cr_capture_free(&capture);
}

static void the_workers_words_stand_on_a_line_of_their_own(void **state) {
  (void)state;
  line_after("", "failure", "failure\n");
  line_after("printed", "failure", "printed\nfailure\n");
  line_after("printed\n", "failure\n", "printed\nfailure\n");
  line_after("half \xe2\x82", "failure", "half \xef\xbf\xbd\nfailure\n");
}

static void the_tail_starts_on_a_character(void **state) {
  (void)state;
  struct cr_capture capture;
  cr_capture_start(&capture, 16);
  for (int i = 0; i < 10000; i++) cr_capture_write(&capture, "\xe2\x82\xac", 3);
  cr_capture_finish(&capture);
  for (size_t most = 0; most < 30; most++) {
    cr_autobuf out = CR_BUF(100);
    assert_int_equal(cr_capture_tail(&capture, most, &out), 0);
    assert_int_equal(out.len, most / 3 * 3);
  }
  cr_capture_free(&capture);
}

// Output of a guest must not be lost in silence: no memory for it ends the worker through one function.
static void no_memory_ends_the_process_through_one_function(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (!child) {
    dup2(ends[1], STDERR_FILENO);
    signal(SIGABRT, SIG_DFL);
    struct cr_capture capture;
    cr_capture_start(&capture, 1000);
    cr_fail_allocations(1);
    cr_capture_write(&capture, "x", 1);
    _exit(0);
  }
  int status;
  char text[200] = "";
  close(ends[1]);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(read(ends[0], text, sizeof text - 1) > 0);
  close(ends[0]);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  assert_non_null(strstr(text, "out of memory"));
}

UNIT_MAIN(T(pieces_of_any_size_render_like_the_whole), T(memory_is_bounded_and_the_total_is_true),
          T(without_a_cap_the_ceiling_holds), T(bytes_that_are_not_text_are_replaced_before_they_are_counted),
          T(the_workers_words_stand_on_a_line_of_their_own), T(the_tail_starts_on_a_character),
          T(no_memory_ends_the_process_through_one_function))
