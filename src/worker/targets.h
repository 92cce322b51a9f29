// Bus targets that guests may not use (contract 11). Decided on the exact function id, before anything is sent.
#pragma once
#include <stddef.h>
#include <yyjson.h>

#include "base/err.h"

// 0 when a guest may call `function_id` with `payload` (JSON; for engine::register_trigger the binding in it is looked
// at as well), else -1 with the text for the guest.
int cr_target_call(const char *function_id, yyjson_val *payload, struct cr_error *err);
// The same for a trigger's target.
int cr_target_bind(const char *function_id, struct cr_error *err);
