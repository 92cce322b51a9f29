#include "worker/link.h"

#include "base/mem.h"
#include "bus/client.h"
#include "worker/internal.h"

void cr_link_reply(void *of, const char *result, size_t length, const struct cr_error *err) {
  if (!err) {
    cr_bus_reply(of, result, length);
    return;
  }
  cr_autofree char *message = cr_format("%s: %s", err->code, err->message);
  cr_bus_reply_error(of, "invocation_failed", message);
}
