// guest/control.h: packets with descriptors over SEQPACKET.
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest/control.h"

static void pair_of(int pair[2]) { assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0); }

static void a_packet_arrives_with_its_descriptors(void **state) {
  (void)state;
  int pair[2], given[4], got[CR_CONTROL_DESCRIPTORS], count = 0, ends[2];
  pair_of(pair);
  assert_int_equal(pipe(ends), 0);
  for (int i = 0; i < 4; i++) given[i] = ends[i & 1];
  struct cr_control sent = {.kind = CR_CONTROL_SPAWN, .seq = 7, .data_bytes = 1ull << 40, .text = "hello"}, received;
  assert_int_equal(cr_control_send(pair[0], &sent, given, 4), 0);
  assert_int_equal(cr_control_receive(pair[1], &received, got, &count, 0), 1);
  assert_int_equal(count, 4);
  assert_int_equal(received.seq, 7);
  assert_true(received.data_bytes == 1ull << 40);
  assert_string_equal(received.text, "hello");
  char byte = 0;
  assert_int_equal(write(got[1], "x", 1), 1);
  assert_int_equal(read(got[0], &byte, 1), 1);
  assert_int_equal(byte, 'x');
  for (int i = 0; i < count; i++) {
    assert_true(fcntl(got[i], F_GETFD) & FD_CLOEXEC);
    close(got[i]);
  }
  for (int i = 0; i < 2; i++) {
    close(pair[i]);
    close(ends[i]);
  }
}

static void the_end_of_the_stream_is_zero(void **state) {
  (void)state;
  int pair[2], got[CR_CONTROL_DESCRIPTORS], count = 0;
  struct cr_control packet;
  pair_of(pair);
  close(pair[0]);
  assert_int_equal(cr_control_receive(pair[1], &packet, got, &count, 0), 0);
  close(pair[1]);
}

static void packets_of_another_size_are_refused(void **state) {
  (void)state;
  char bytes[sizeof(struct cr_control) + 8] = {0};
  for (size_t size = 1; size <= sizeof bytes; size += sizeof bytes - sizeof(struct cr_control) - 1) {
    int pair[2], got[CR_CONTROL_DESCRIPTORS], count = 0;
    struct cr_control packet;
    pair_of(pair);
    if (size == sizeof packet) continue;
    assert_int_equal(send(pair[0], bytes, size, 0), size);
    assert_int_equal(cr_control_receive(pair[1], &packet, got, &count, 0), -1);
    assert_int_equal(errno, EBADMSG);
    assert_int_equal(count, 0);
    close(pair[0]);
    close(pair[1]);
  }
}

static void a_text_without_an_end_gets_one(void **state) {
  (void)state;
  int pair[2], got[CR_CONTROL_DESCRIPTORS], count = 0;
  struct cr_control sent = {.kind = CR_CONTROL_READY}, received;
  memset(sent.text, 'x', sizeof sent.text);
  pair_of(pair);
  assert_int_equal(cr_control_send(pair[0], &sent, NULL, 0), 0);
  assert_int_equal(cr_control_receive(pair[1], &received, got, &count, 0), 1);
  assert_int_equal(strlen(received.text), sizeof received.text - 1);
  close(pair[0]);
  close(pair[1]);
}

static int open_descriptors(void) {
  int open_ones = 0;
  for (int fd = 0; fd < 256; fd++) open_ones += fcntl(fd, F_GETFD) >= 0;
  return open_ones;
}

// A zygote that sends more descriptors than the protocol knows must not fill the worker's table.
static void surplus_descriptors_are_closed(void **state) {
  (void)state;
  int pair[2], got[CR_CONTROL_DESCRIPTORS], count = 0;
  pair_of(pair);
  int before = open_descriptors();
  struct cr_control packet = {.kind = CR_CONTROL_SPAWNED};
  char space[CMSG_SPACE(sizeof(int) * 16)] = {0};
  struct iovec part = {&packet, sizeof packet};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * 16);
  memset(CMSG_DATA(header), 0, sizeof(int) * 16);  // sixteen times descriptor 0
  assert_int_equal(sendmsg(pair[0], &message, 0), sizeof packet);
  assert_int_equal(cr_control_receive(pair[1], &packet, got, &count, 0), -1);
  assert_int_equal(errno, EBADMSG);
  assert_int_equal(open_descriptors(), before);
  close(pair[0]);
  close(pair[1]);
}

UNIT_MAIN(T(a_packet_arrives_with_its_descriptors), T(the_end_of_the_stream_is_zero),
          T(packets_of_another_size_are_refused), T(a_text_without_an_end_gets_one), T(surplus_descriptors_are_closed))
