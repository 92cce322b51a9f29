#include "worker/targets.h"

#include <string.h>

static int starts_with(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

static int operator_only(const char *id) {
  return !strcmp(id, "state::claim-namespace") || starts_with(id, "harness::state::") ||
         starts_with(id, "provider-openai-codex::state::") || starts_with(id, "provider::openai-codex::login::") ||
         starts_with(id, "provider::openai-codex::auth::");
}

int cr_target_bind(const char *id, struct cr_error *err) {
  if (!operator_only(id) && strcmp(id, "engine::register_trigger") != 0 &&
      strcmp(id, "engine::unregister_trigger") != 0)
    return 0;
  return cr_error_set(err, CR_INVALID_REQUEST,
                      "%s is operator-only: it cannot be bound to a trigger through code-runner", id);
}

int cr_target_call(const char *id, yyjson_val *payload, struct cr_error *err) {
  if (operator_only(id))
    return cr_error_set(err, CR_INVALID_REQUEST, "%s is operator-only: it cannot be called through code-runner", id);
  if (strcmp(id, "engine::register_trigger") != 0) return 0;
  // A key given twice would let this check and the engine see different values.
  yyjson_val *target = NULL;
  size_t seen = 0, index, count;
  yyjson_val *key, *value;
  yyjson_obj_foreach(payload, index, count, key, value) {
    if (!yyjson_equals_str(key, "function_id")) continue;
    target = value;
    seen++;
  }
  if (seen != 1 || !yyjson_is_str(target) || strlen(yyjson_get_str(target)) != yyjson_get_len(target))
    return cr_error_set(err, CR_INVALID_REQUEST,
                        "engine::register_trigger needs a string `function_id` in its payload");
  return cr_target_bind(yyjson_get_str(target), err);
}
