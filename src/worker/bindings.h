// Triggers and trigger types that node guests register (contract 7.5, 7.6). They share the budget of 256 registrations
// with functions, and go with their runtime.
#pragma once
#include <stdint.h>
#include <yyjson.h>

#include "base/err.h"

#define CR_REGISTRATIONS_MAX 256u

struct cr_runtime;

// 0, or CR_INVALID_REQUEST naming the budget when it is used up.
int cr_bindings_room(const struct cr_runtime *runtime, struct cr_error *err);
unsigned cr_bindings_count(const struct cr_runtime *runtime);

// `input` as the guest gave it (type, function_id, config, metadata?). `id` gets the trigger's.
int cr_bindings_bind(struct cr_runtime *runtime, yyjson_val *input, char id[37], struct cr_error *err);
void cr_bindings_unbind(struct cr_runtime *runtime, const char *id);

int cr_bindings_provide(struct cr_runtime *runtime, const char *id, const char *description, struct cr_error *err);
void cr_bindings_withdraw(struct cr_runtime *runtime, const char *id);

void cr_bindings_drop(struct cr_runtime *runtime);
