// Errors: one record, made once at the place where something went wrong, handed up unchanged.
// Contract section 3 lists the codes that callers of the bus can see.
#pragma once
#include <stdarg.h>

#define CR_INVALID_REQUEST "code-runner::invalid_request"
#define CR_RUNTIME_NOT_FOUND "code-runner::runtime_not_found"
#define CR_EXPIRED "code-runner::expired"
#define CR_CAPACITY "code-runner::capacity"
#define CR_TIMEOUT "code-runner::timeout"
#define CR_RESOURCE_EXHAUSTED "code-runner::resource_exhausted"
#define CR_HANDLER_ERROR "code-runner::handler_error"
#define CR_ENGINE "code-runner::engine"

// `code` is one of the literals above (or another static string: not owned). `message` is owned, UTF-8, without the
// code. A zeroed record is "no error". Functions leave it untouched on success.
struct cr_error {
  const char *code;
  char *message;
};

// Replaces what `err` holds; `err` may be NULL. Returns -1, so that `return cr_error_set(…)` reads well.
int cr_error_set(struct cr_error *err, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int cr_error_vset(struct cr_error *err, const char *code, const char *format, va_list arguments);

// Moves `from` to `to` (what `to` held is freed); `from` is empty afterwards.
void cr_error_move(struct cr_error *to, struct cr_error *from);
void cr_error_clear(struct cr_error *err);
