#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long fail_after;

void cr_out_of_memory(void) {
  static const char text[] = "code-runner: out of memory\n";
  (void)!write(STDERR_FILENO, text, sizeof text - 1);
  abort();
}

void *cr_alloc(size_t size) {
  void *memory = calloc(1, size ? size : 1);
  if (!memory) cr_out_of_memory();
  return memory;
}

void *cr_grow(void *memory, size_t size) {
  void *grown = realloc(memory, size);
  if (!grown) cr_out_of_memory();
  return grown;
}

char *cr_strndup(const char *text, size_t length) {
  char *copy = cr_alloc(length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *cr_strdup(const char *text) { return cr_strndup(text, strlen(text)); }

char *cr_format(const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) cr_out_of_memory();
  va_end(arguments);
  return text;
}

void *cr_try_realloc(void *memory, size_t size) {
  if (fail_after == 1) return NULL;
  if (fail_after) fail_after--;
  return realloc(memory, size);
}

void cr_fail_allocations(unsigned long after) { fail_after = after; }

void cr_free_cleanup(void *pointer_to_pointer) { free(*(void **)pointer_to_pointer); }
