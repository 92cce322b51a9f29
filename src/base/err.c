#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

int cr_error_vset(struct cr_error *err, const char *code, const char *format, va_list arguments) {
  if (!err) return -1;
  char *message = NULL;
  if (vasprintf(&message, format, arguments) < 0) cr_out_of_memory();
  free(err->message);
  *err = (struct cr_error){.code = code, .message = message};
  return -1;
}

int cr_error_set(struct cr_error *err, const char *code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  cr_error_vset(err, code, format, arguments);
  va_end(arguments);
  return -1;
}

void cr_error_move(struct cr_error *to, struct cr_error *from) {
  free(to->message);
  *to = *from;
  *from = (struct cr_error){0};
}

void cr_error_clear(struct cr_error *err) {
  free(err->message);
  *err = (struct cr_error){0};
}
