#include "guest/control.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union descriptor_space {
  char bytes[CMSG_SPACE(sizeof(int) * CR_CONTROL_DESCRIPTORS)];
  struct cmsghdr align;
};

int cr_control_send(int socket, const struct cr_control *packet, const int *descriptors, int count) {
  struct iovec part = {.iov_base = (void *)packet, .iov_len = sizeof *packet};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  union descriptor_space space;
  if (count > 0) {
    size_t size = sizeof(int) * (size_t)count;
    memset(&space, 0, sizeof space);
    message.msg_control = space.bytes;
    message.msg_controllen = CMSG_SPACE(size);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), descriptors, size);
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)sizeof *packet ? 0 : -1;
}

static int collect(struct msghdr *message, int *descriptors) {
  int count = 0;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int here = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < here; i++) {
      int descriptor;
      memcpy(&descriptor, CMSG_DATA(header) + sizeof(int) * (size_t)i, sizeof descriptor);
      if (count < CR_CONTROL_DESCRIPTORS)
        descriptors[count++] = descriptor;
      else
        close(descriptor);
    }
  }
  return count;
}

int cr_control_receive(int socket, struct cr_control *packet, int *descriptors, int *count, int flags) {
  struct iovec part = {.iov_base = packet, .iov_len = sizeof *packet};
  union descriptor_space space;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = space.bytes, .msg_controllen = sizeof space.bytes};
  ssize_t got;
  do got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return (int)got;
  *count = collect(&message, descriptors);
  if (got == (ssize_t)sizeof *packet && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
    packet->text[sizeof packet->text - 1] = 0;
    return 1;
  }
  while (*count > 0) close(descriptors[--*count]);
  errno = EBADMSG;
  return -1;
}
