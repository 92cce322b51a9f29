// The operations of state::update (spec 8.2): applied in order, those that fail are reported and skipped.
#pragma once
#include <yyjson.h>

// Whether it is an array of objects with types that exist.
int cr_state_ops_known(yyjson_val *ops);

// Numbers in `ops` and `root` are raw texts. `root`: the present value as a mutable value of `doc`, or NULL when there
// is none. Returns the new value, never NULL, and appends an object {op_index, code, message} to `errors` (an array of
// `doc`) for each operation that failed.
yyjson_mut_val *cr_state_ops(yyjson_mut_doc *doc, yyjson_mut_val *root, yyjson_val *ops, yyjson_mut_val *errors);
