// Allocation. Small fixed-size records come from cr_alloc, which ends the process through cr_out_of_memory when there
// is no memory; whatever can grow with input lives in a cr_buf (base/buf.h), whose failures are reported.
#pragma once
#include <stddef.h>

// Zeroed memory, never NULL; free() it.
void *cr_alloc(size_t size) __attribute__((malloc, returns_nonnull));
char *cr_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *cr_strndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));
char *cr_format(const char *format, ...) __attribute__((format(printf, 1, 2), malloc, returns_nonnull));
_Noreturn void cr_out_of_memory(void);

// realloc that ends the process when there is no memory; for arrays whose length the program itself bounds.
void *cr_grow(void *memory, size_t size) __attribute__((returns_nonnull));

// realloc that tests can make fail: after cr_fail_allocations(n), the n-th next call and all later ones return NULL.
// n = 0 switches it off.
void *cr_try_realloc(void *memory, size_t size);
void cr_fail_allocations(unsigned long after);

// For __attribute__((cleanup)): `cr_autofree char *text = …;`
void cr_free_cleanup(void *pointer_to_pointer);
#define cr_autofree __attribute__((cleanup(cr_free_cleanup)))
