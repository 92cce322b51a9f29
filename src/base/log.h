// The worker's log: one line an event on stderr. Never pass a runtime id, code, payload or result here (contract 2.1).
#pragma once
#include <stddef.h>

enum cr_log_level { CR_LOG_ERROR, CR_LOG_WARN, CR_LOG_INFO, CR_LOG_DEBUG };

// From CODE_RUNNER_LOG: error, warn, info (the default), debug.
void cr_log_init(void);
int cr_log_enabled(enum cr_log_level level);
void cr_log(enum cr_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Text of a guest: control characters are escaped, so that it cannot forge lines.
void cr_log_guest(enum cr_log_level level, const char *what, const void *text, size_t length);
