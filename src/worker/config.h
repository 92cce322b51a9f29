// The twelve settings of contract 15.1.
#pragma once
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"

struct cr_config {
  uint64_t max_runtimes;
  uint64_t default_timeout_ms;  // hot
  uint64_t max_timeout_ms;      // hot
  uint64_t idle_ttl_secs;
  uint64_t heap_mb;
  uint64_t external_mb;
  uint64_t scratch_mb;
  uint64_t scratch_files;
  char *scratch_root;         // NULL: the default; owned
  int inject_guidance;        // hot
  uint64_t max_result_bytes;  // hot
  uint64_t max_stream_bytes;  // hot
};

void cr_config_defaults(struct cr_config *config);
void cr_config_free(struct cr_config *config);

// A flat object; missing keys take defaults. Unknown keys, wrong types, negatives, fractions and null (except
// scratch_root) are errors that name the key; `config` is then untouched. What it held is freed on success.
int cr_config_read(yyjson_val *object, struct cr_config *config, struct cr_error *err);
// The same from a YAML file.
int cr_config_load(const char *path, struct cr_config *config, struct cr_error *err);

// The hot keys of `from` go into `to`; returns 1 when a restart-only key differs.
int cr_config_apply(struct cr_config *to, const struct cr_config *from);

// The twelve keys as a JSON object, and the JSON Schema of the entry (contract 15.2), in `doc`.
yyjson_mut_val *cr_config_value(const struct cr_config *config, yyjson_mut_doc *doc);
yyjson_mut_val *cr_config_schema(yyjson_mut_doc *doc);

// Budget in milliseconds of a run that asks for `wanted` (0: nothing asked), contract 12.5.
uint64_t cr_config_budget(const struct cr_config *config, uint64_t wanted);
