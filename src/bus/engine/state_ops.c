#include "bus/engine/state_ops.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_DEPTH_MAX 32
#define SEGMENT_MAX 256
#define MERGE_DEPTH_MAX 16
#define MERGE_KEYS_MAX 1024

struct op {
  yyjson_mut_doc *doc;
  yyjson_mut_val *root;  // NULL: no value yet
  yyjson_val *value;     // the operation
  const char *type;
  uint64_t index;
  yyjson_mut_val *errors;
  yyjson_val *path[PATH_DEPTH_MAX];  // strings
  size_t depth;
};

static void report(struct op *op, const char *code, const char *message) {
  yyjson_mut_val *item = yyjson_mut_arr_add_obj(op->doc, op->errors);
  yyjson_mut_obj_add_uint(op->doc, item, "op_index", op->index);
  yyjson_mut_obj_add_strcpy(op->doc, item, "code", code);
  yyjson_mut_obj_add_strcpy(op->doc, item, "message", message);
}

static void report_own(struct op *op, const char *suffix, const char *message) {
  char code[64];
  snprintf(code, sizeof code, "%s.%s", op->type, suffix);
  report(op, code, message);
}

static int is_polluting(yyjson_val *key) {
  return yyjson_equals_str(key, "__proto__") || yyjson_equals_str(key, "constructor") ||
         yyjson_equals_str(key, "prototype");
}

static int check_segment(struct op *op, yyjson_val *segment) {
  if (!yyjson_is_str(segment) || !yyjson_get_len(segment)) {
    report_own(op, "path.empty_segment", "a path segment must be a non-empty string");
    return -1;
  }
  if (yyjson_get_len(segment) > SEGMENT_MAX) {
    report_own(op, "path.segment_too_long", "a path segment has more than 256 bytes");
    return -1;
  }
  if (is_polluting(segment)) {
    report_own(op, "path.proto_polluted", "this path segment is not allowed");
    return -1;
  }
  return 0;
}

// Absent, "" and [] are the root; a string is one literal key; an array is literal segments.
static int read_path(struct op *op, int nested) {
  yyjson_val *path = yyjson_obj_get(op->value, "path");
  op->depth = 0;
  if (!path || yyjson_is_null(path) || yyjson_equals_str(path, "")) return 0;
  if (!nested || !yyjson_is_arr(path)) {
    op->path[op->depth++] = path;
    return check_segment(op, path);
  }
  if (yyjson_arr_size(path) > PATH_DEPTH_MAX) {
    report_own(op, "path.too_deep", "a path has more than 32 segments");
    return -1;
  }
  size_t index, count;
  yyjson_val *segment;
  yyjson_arr_foreach(path, index, count, segment) {
    if (check_segment(op, segment)) return -1;
    op->path[op->depth++] = segment;
  }
  return 0;
}

static yyjson_mut_val *copy(struct op *op, yyjson_val *value) {
  return value ? yyjson_val_mut_copy(op->doc, value) : yyjson_mut_null(op->doc);
}

static void put(struct op *op, yyjson_mut_val *object, yyjson_val *key, yyjson_mut_val *value) {
  yyjson_mut_obj_put(object, yyjson_val_mut_copy(op->doc, key), value);
}

static yyjson_mut_val *get(yyjson_mut_val *object, yyjson_val *key) {
  return yyjson_mut_obj_getn(object, yyjson_get_str(key), yyjson_get_len(key));
}

static yyjson_mut_val *object_root(struct op *op) {
  if (!op->root) op->root = yyjson_mut_obj(op->doc);
  return yyjson_mut_is_obj(op->root) ? op->root : NULL;
}

static void do_set(struct op *op) {
  yyjson_val *value = yyjson_obj_get(op->value, "value");
  if (read_path(op, 0)) return;
  if (!op->depth)
    op->root = copy(op, value);
  else if (object_root(op))
    put(op, op->root, op->path[0], copy(op, value));
  else
    report(op, "set.target_not_object", "the value is not an object");
}

static size_t depth_of(yyjson_val *value) {
  size_t deepest = 0, index, count;
  yyjson_val *key, *item;
  if (yyjson_is_arr(value)) {
    yyjson_arr_foreach(value, index, count, item) {
      size_t depth = depth_of(item);
      if (depth > deepest) deepest = depth;
    }
    return deepest + 1;
  }
  if (!yyjson_is_obj(value)) return 0;
  yyjson_obj_foreach(value, index, count, key, item) {
    (void)key;
    size_t depth = depth_of(item);
    if (depth > deepest) deepest = depth;
  }
  return deepest + 1;
}

static int check_merge(struct op *op, yyjson_val *value) {
  size_t index, count;
  yyjson_val *key, *item;
  if (!yyjson_is_obj(value)) {
    report(op, "merge.value.not_an_object", "only an object can be merged");
    return -1;
  }
  if (depth_of(value) > MERGE_DEPTH_MAX) {
    report(op, "merge.value.too_deep", "the value nests deeper than 16");
    return -1;
  }
  if (yyjson_obj_size(value) > MERGE_KEYS_MAX) {
    report(op, "merge.value.too_many_keys", "the value has more than 1024 keys");
    return -1;
  }
  yyjson_obj_foreach(value, index, count, key, item) {
    (void)item;
    if (!is_polluting(key)) continue;
    report(op, "merge.value.proto_polluted", "a key of the value is not allowed");
    return -1;
  }
  return 0;
}

// The object at the path; what is on the way and no object is replaced by one.
static yyjson_mut_val *walk(struct op *op, size_t depth) {
  yyjson_mut_val *at = op->root;
  for (size_t i = 0; i < depth; i++) {
    yyjson_mut_val *child = get(at, op->path[i]);
    if (!yyjson_mut_is_obj(child)) {
      child = yyjson_mut_obj(op->doc);
      put(op, at, op->path[i], child);
    }
    at = child;
  }
  return at;
}

static void do_merge(struct op *op) {
  yyjson_val *value = yyjson_obj_get(op->value, "value"), *key, *item;
  if (read_path(op, 1) || check_merge(op, value)) return;
  if (!op->root) op->root = yyjson_mut_obj(op->doc);
  if (!yyjson_mut_is_obj(op->root)) {
    if (!op->depth) return;  // by the specification skipped without a report
    op->root = yyjson_mut_obj(op->doc);
  }
  yyjson_mut_val *target = walk(op, op->depth);
  size_t index, count;
  yyjson_obj_foreach(value, index, count, key, item) put(op, target, key, copy(op, item));
}

static int read_int(const char *text, int64_t *number) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (errno || end == text || *end) return -1;
  *number = value;
  return 0;
}

// The present number (raw text; NULL: none) plus `by`; NULL when that is no finite number.
static yyjson_mut_val *sum(struct op *op, const char *present, int64_t by) {
  int64_t number = 0, total;
  if (!present) return yyjson_mut_sint(op->doc, by);
  if (!read_int(present, &number) && !__builtin_add_overflow(number, by, &total))
    return yyjson_mut_sint(op->doc, total);
  double real = strtod(present, NULL) + (double)by;
  return isfinite(real) ? yyjson_mut_real(op->doc, real) : NULL;
}

// A number that an earlier operation of the same update made is not raw.
static yyjson_mut_val *as_raw(struct op *op, yyjson_mut_val *value) {
  if (!yyjson_mut_is_num(value)) return value;
  char *text = yyjson_mut_val_write(value, YYJSON_WRITE_NOFLAG, NULL);
  yyjson_mut_val *raw = yyjson_mut_rawcpy(op->doc, text);
  free(text);
  return raw;
}

static void do_add(struct op *op, int sign) {
  const char *by = yyjson_get_raw(yyjson_obj_get(op->value, "by"));
  int64_t amount = 0;
  if (read_path(op, 0)) return;
  if (!by || read_int(by, &amount) || __builtin_mul_overflow(amount, sign, &amount)) {
    report_own(op, "not_number", "`by` must be an integer");
    return;
  }
  if (op->depth && !object_root(op)) {
    report_own(op, "target_not_object", "the value is not an object");
    return;
  }
  yyjson_mut_val *present = as_raw(op, op->depth ? get(op->root, op->path[0]) : op->root);
  int number = !present || yyjson_mut_is_raw(present);
  yyjson_mut_val *total = number ? sum(op, yyjson_mut_get_raw(present), amount) : NULL;
  if (!total)
    report_own(op, "not_number", "the present value is not a number that can take it");
  else if (op->depth)
    put(op, op->root, op->path[0], total);
  else
    op->root = total;
}

static yyjson_mut_val *concatenated(struct op *op, yyjson_mut_val *present, yyjson_val *value) {
  size_t first = yyjson_mut_get_len(present), second = yyjson_get_len(value);
  char *text = malloc(first + second + 1);
  if (!text) return NULL;
  memcpy(text, yyjson_mut_get_str(present), first);
  memcpy(text + first, yyjson_get_str(value), second);
  yyjson_mut_val *result = yyjson_mut_strncpy(op->doc, text, first + second);
  free(text);
  return result;
}

// What is there after `value` is appended; NULL: that does not go together.
static yyjson_mut_val *appended(struct op *op, yyjson_mut_val *present, yyjson_val *value) {
  if (!present || yyjson_mut_is_null(present)) {
    if (yyjson_is_str(value) && op->depth < 2) return copy(op, value);
    present = yyjson_mut_arr(op->doc);
  }
  if (yyjson_mut_is_arr(present)) {
    yyjson_mut_arr_append(present, copy(op, value));
    return present;
  }
  return yyjson_mut_is_str(present) && yyjson_is_str(value) ? concatenated(op, present, value) : NULL;
}

static void do_append(struct op *op) {
  yyjson_val *value = yyjson_obj_get(op->value, "value");
  if (read_path(op, 1)) return;
  if (op->depth && !object_root(op)) {
    report(op, "append.target_not_object", "the value is not an object");
    return;
  }
  yyjson_mut_val *parent = op->depth ? walk(op, op->depth - 1) : NULL;
  yyjson_val *key = op->depth ? op->path[op->depth - 1] : NULL;
  yyjson_mut_val *result = appended(op, parent ? get(parent, key) : op->root, value);
  if (!result)
    report(op, "append.type_mismatch", "the present value is neither an array nor, with a string, a string");
  else if (!parent)
    op->root = result;
  else if (result != get(parent, key))
    put(op, parent, key, result);
}

static void do_remove(struct op *op) {
  if (read_path(op, 0)) return;
  if (!op->depth)
    op->root = yyjson_mut_null(op->doc);
  else if (!object_root(op))
    report(op, "remove.target_not_object", "the value is not an object");
  else
    yyjson_mut_obj_remove_keyn(op->root, yyjson_get_str(op->path[0]), yyjson_get_len(op->path[0]));
}

static void do_increment(struct op *op) { do_add(op, 1); }

static void do_decrement(struct op *op) { do_add(op, -1); }

static const struct {
  const char *type;
  void (*apply)(struct op *op);
} kinds[] = {{"set", do_set},       {"merge", do_merge},  {"increment", do_increment}, {"decrement", do_decrement},
             {"append", do_append}, {"remove", do_remove}};
#define KINDS (sizeof kinds / sizeof *kinds)

static size_t kind_of(yyjson_val *op) {
  size_t kind = 0;
  while (kind < KINDS && !yyjson_equals_str(yyjson_obj_get(op, "type"), kinds[kind].type)) kind++;
  return kind;
}

int cr_state_ops_known(yyjson_val *ops) {
  size_t index, count;
  yyjson_val *op;
  yyjson_arr_foreach(ops, index, count, op) if (kind_of(op) == KINDS) return 0;
  return yyjson_is_arr(ops);
}

yyjson_mut_val *cr_state_ops(yyjson_mut_doc *doc, yyjson_mut_val *root, yyjson_val *ops, yyjson_mut_val *errors) {
  struct op op = {.doc = doc, .root = root, .errors = errors};
  size_t index, count;
  yyjson_arr_foreach(ops, index, count, op.value) {
    size_t kind = kind_of(op.value);
    if (kind == KINDS) continue;
    op.index = index;
    op.type = kinds[kind].type;
    kinds[kind].apply(&op);
  }
  return op.root ? op.root : yyjson_mut_obj(doc);
}
