// guest/frame.h: docs/protocol.md, "Runtime stream".
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "guest/frame.h"
#include "guest/zygote.h"

static void make(struct cr_buf *buf, uint32_t id) {
  struct cr_frame_writer writer = cr_frame_begin(buf, CR_FRAME_DONE, CR_DONE_LOST, id);
  cr_frame_number(&writer, -7);
  cr_frame_text(&writer, "");
  cr_frame_bytes(&writer, "a\0b", 3);
  cr_frame_number(&writer, INT64_MIN);
  assert_int_equal(cr_frame_end(&writer), 0);
}

static void what_is_written_is_read(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(1024);
  make(&buf, 0xfedcba98u);
  struct cr_frame frame;
  assert_int_equal(cr_frame_parse(&frame, buf.data, buf.len, CR_FRAME_MAX), buf.len);
  assert_int_equal(frame.type, CR_FRAME_DONE);
  assert_int_equal(frame.flags, CR_DONE_LOST);
  assert_int_equal(frame.id, 0xfedcba98u);
  struct cr_fields fields = cr_frame_fields(&frame);
  int64_t number;
  const uint8_t *bytes;
  uint32_t length;
  assert_int_equal(cr_fields_number(&fields, &number), 0);
  assert_int_equal(number, -7);
  assert_int_equal(cr_fields_bytes(&fields, &bytes, &length), 0);
  assert_int_equal(length, 0);
  assert_int_equal(cr_fields_bytes(&fields, &bytes, &length), 0);
  assert_int_equal(length, 3);
  assert_memory_equal(bytes, "a\0b", 3);
  assert_int_equal(cr_fields_number(&fields, &number), 0);
  assert_true(number == INT64_MIN);
  assert_int_equal(cr_fields_bytes(&fields, &bytes, &length), -1);
}

static void the_wire_is_little_endian(void **state) {
  (void)state;
  static const uint8_t expected[] = {12, 0, 0, 0, 65, 1, 0, 0, 4, 3, 2, 1, 8, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0};
  cr_autobuf buf = CR_BUF(64);
  struct cr_frame_writer writer = cr_frame_begin(&buf, 65, 1, 0x01020304);
  cr_frame_number(&writer, 0x102);
  assert_int_equal(cr_frame_end(&writer), 0);
  assert_int_equal(buf.len, sizeof expected);
  assert_memory_equal(buf.data, expected, sizeof expected);
}

static void every_truncation_wants_more_bytes(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(1024);
  make(&buf, 1);
  struct cr_frame frame;
  for (size_t length = 0; length < buf.len; length++)
    assert_int_equal(cr_frame_parse(&frame, buf.data, length, CR_FRAME_MAX), 0);
}

static void a_payload_at_the_maximum_is_taken_and_one_over_is_not(void **state) {
  (void)state;
  uint8_t header[CR_FRAME_HEADER] = {100, 0, 0, 0, CR_FRAME_DONE};
  struct cr_frame frame;
  assert_int_equal(cr_frame_parse(&frame, header, sizeof header, 100), 0);
  assert_int_equal(cr_frame_parse(&frame, header, sizeof header, 99), -1);
  memset(header, 0xff, 4);
  assert_int_equal(cr_frame_parse(&frame, header, sizeof header, CR_FRAME_MAX), -1);
}

static void an_oversized_header_is_refused_before_its_payload_arrives(void **state) {
  (void)state;
  static const uint8_t header[CR_FRAME_HEADER] = {1, 0, 0, 4, CR_FRAME_DONE};  // 64 MiB + 1
  struct cr_frame frame;
  assert_int_equal(cr_frame_parse(&frame, header, sizeof header, CR_FRAME_MAX), -1);
}

static void reserved_bytes_must_be_zero(void **state) {
  (void)state;
  struct cr_frame frame;
  for (int at = 6; at < 8; at++) {
    uint8_t header[CR_FRAME_HEADER] = {0, 0, 0, 0, CR_FRAME_DONE};
    assert_int_equal(cr_frame_parse(&frame, header, sizeof header, CR_FRAME_MAX), CR_FRAME_HEADER);
    header[at] = 1;
    assert_int_equal(cr_frame_parse(&frame, header, sizeof header, CR_FRAME_MAX), -1);
  }
}

static void frames_are_taken_in_their_order(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(4096);
  for (uint32_t id = 3; id > 0; id--) make(&buf, id);
  size_t used = 0;
  for (uint32_t id = 3; id > 0; id--) {
    struct cr_frame frame;
    ssize_t size = cr_frame_parse(&frame, buf.data + used, buf.len - used, CR_FRAME_MAX);
    assert_true(size > 0);
    assert_int_equal(frame.id, id);
    used += (size_t)size;
  }
  assert_int_equal(used, buf.len);
}

static void fields_that_overrun_the_frame_are_not_there(void **state) {
  (void)state;
  static const uint8_t lies[][8] = {
      {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, {5, 0, 0, 0, 1, 2, 3, 4}, {4, 0, 0, 0x80, 1, 2, 3, 4}};
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    struct cr_frame frame = {.payload = lies[i], .length = sizeof lies[i]};
    struct cr_fields fields = cr_frame_fields(&frame), before = fields;
    const uint8_t *bytes;
    uint32_t length;
    assert_int_equal(cr_fields_bytes(&fields, &bytes, &length), -1);
    assert_ptr_equal(fields.at, before.at);
  }
  struct cr_frame empty = {.payload = lies[0], .length = 3};
  struct cr_fields fields = cr_frame_fields(&empty);
  int64_t number;
  assert_int_equal(cr_fields_number(&fields, &number), -1);
}

static void a_number_has_eight_bytes(void **state) {
  (void)state;
  for (size_t size = 0; size < 12; size++) {
    cr_autobuf buf = CR_BUF(128);
    struct cr_frame_writer writer = cr_frame_begin(&buf, CR_FRAME_DONE, 0, 1);
    cr_frame_bytes(&writer, "abcdefghijkl", size);
    assert_int_equal(cr_frame_end(&writer), 0);
    struct cr_frame frame;
    assert_true(cr_frame_parse(&frame, buf.data, buf.len, CR_FRAME_MAX) > 0);
    struct cr_fields fields = cr_frame_fields(&frame);
    int64_t number;
    assert_int_equal(cr_fields_number(&fields, &number), size == 8 ? 0 : -1);
  }
}

static void a_frame_that_does_not_fit_is_taken_out_again(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(100);
  make(&buf, 1);
  size_t before = buf.len;
  struct cr_frame_writer writer = cr_frame_begin(&buf, CR_FRAME_DONE, 0, 2);
  cr_frame_text(&writer, "this text is longer than the room that is left in the buffer");
  cr_frame_number(&writer, 1);
  assert_int_equal(cr_frame_end(&writer), -1);
  assert_int_equal(errno, EMSGSIZE);
  assert_int_equal(buf.len, before);
}

static void any_failed_allocation_is_reported_at_the_end(void **state) {
  (void)state;
  char large[2000] = {0};
  for (unsigned long nth = 1; nth <= 3; nth++) {
    cr_autobuf buf = CR_BUF(1 << 20);
    cr_fail_allocations(nth);
    struct cr_frame_writer writer = cr_frame_begin(&buf, CR_FRAME_DONE, 0, 2);
    for (int i = 0; i < 4; i++) cr_frame_bytes(&writer, large, sizeof large);
    int result = cr_frame_end(&writer);
    cr_fail_allocations(0);
    assert_int_equal(result, -1);
    assert_int_equal(buf.len, 0);
  }
}

static void an_id_can_be_given_later(void **state) {
  (void)state;
  cr_autobuf buf = CR_BUF(1024);
  make(&buf, 0);
  cr_frame_set_id(buf.data, 77);
  struct cr_frame frame;
  assert_true(cr_frame_parse(&frame, buf.data, buf.len, CR_FRAME_MAX) > 0);
  assert_int_equal(frame.id, 77);
}

struct trickle {
  int socket;
  struct cr_buf *bytes;
};

static void *write_slowly(void *of) {
  struct trickle *trickle = of;
  for (size_t i = 0; i < trickle->bytes->len; i++)
    assert_int_equal(write(trickle->socket, trickle->bytes->data + i, 1), 1);
  close(trickle->socket);
  return NULL;
}

static void a_stream_read_byte_by_byte_gives_whole_frames(void **state) {
  (void)state;
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  cr_autobuf bytes = CR_BUF(4096), in = CR_BUF(CR_FRAME_MAX);
  for (uint32_t id = 1; id <= 5; id++) make(&bytes, id);
  assert_int_equal(cr_buf_append(&bytes, "half", 4), 0);
  struct trickle trickle = {pair[0], &bytes};
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, write_slowly, &trickle), 0);
  struct cr_frame frame = {0};
  for (uint32_t id = 1; id <= 5; id++) {
    assert_int_equal(cr_stream_read(pair[1], &in, &frame), 0);
    assert_int_equal(frame.id, id);
  }
  assert_int_equal(cr_stream_read(pair[1], &in, &frame), -1);
  pthread_join(writer, NULL);
  close(pair[1]);
}

static void a_malformed_stream_ends(void **state) {
  (void)state;
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  assert_int_equal(cr_stream_write(pair[0], "\xff\xff\xff\xff\x41\0\0\0\0\0\0\0", CR_FRAME_HEADER), 0);
  cr_autobuf in = CR_BUF(4096);
  struct cr_frame frame = {0};
  assert_int_equal(cr_stream_read(pair[1], &in, &frame), -1);
  close(pair[0]);
  close(pair[1]);
}

UNIT_MAIN(T(what_is_written_is_read), T(the_wire_is_little_endian), T(every_truncation_wants_more_bytes),
          T(a_payload_at_the_maximum_is_taken_and_one_over_is_not),
          T(an_oversized_header_is_refused_before_its_payload_arrives), T(reserved_bytes_must_be_zero),
          T(frames_are_taken_in_their_order), T(fields_that_overrun_the_frame_are_not_there),
          T(a_number_has_eight_bytes), T(a_frame_that_does_not_fit_is_taken_out_again),
          T(any_failed_allocation_is_reported_at_the_end), T(an_id_can_be_given_later),
          T(a_stream_read_byte_by_byte_gives_whole_frames), T(a_malformed_stream_ends))
