// The worker's settings as an entry of the bus's configuration worker (contract 15.2, 15.4).
#pragma once
#include "base/err.h"
#include "worker/config.h"

struct cr_bus;

// Entry id: III_CONFIG_NAME, trimmed, or "code-runner".
const char *cr_settings_entry(void);

// Makes sure that the entry exists (with `seed` as its first value, NULL: the defaults) and reads it. `done` is called
// once, later, with the settings (which pass over) or an error. CR_SETTINGS_NO_WORKER: the bus has no configuration
// worker.
#define CR_SETTINGS_NO_WORKER "no_configuration_worker"
typedef void cr_settings_done(void *of, struct cr_config *config, const struct cr_error *err);
void cr_settings_load(struct cr_bus *bus, const struct cr_config *seed, cr_settings_done *done, void *of);
// Reads the entry only.
void cr_settings_read(struct cr_bus *bus, cr_settings_done *done, void *of);
