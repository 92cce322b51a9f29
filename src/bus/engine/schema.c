#include "bus/engine/schema.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <ctype.h>
#include <math.h>
#include <pcre2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

#define STEPS_MAX 200000
#define DEPTH_MAX 256
#define ERRORS_MAX 16
#define SHOWN_MAX 200

struct check {
  yyjson_val *root;
  struct cr_buf *errors;
  size_t failures;  // so far, told or not
  int quiet;        // failures are counted, not told
  int steps, depth;
  int unusable;  // the schema; nothing more is checked
};

static void check_value(struct check *check, yyjson_val *schema, yyjson_val *value);

static void __attribute__((format(printf, 2, 3))) fail(struct check *check, const char *format, ...) {
  check->failures++;
  if (check->quiet || check->unusable || check->failures > ERRORS_MAX) return;
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) cr_out_of_memory();
  va_end(arguments);
  if (check->errors->len) cr_buf_puts(check->errors, "; ");
  cr_buf_puts(check->errors, text);
  free(text);
}

static void unusable(struct check *check, const char *why) {
  if (check->unusable) return;
  check->unusable = 1;
  check->failures++;
  check->errors->len = 0;
  cr_buf_printf(check->errors, "invalid JSON Schema: %s", why);
}

// The value as messages show it; freed by the caller.
static char *shown(const struct check *check, yyjson_val *value) {
  if (check->quiet || check->failures >= ERRORS_MAX) return cr_strdup("");
  size_t length = 0;
  char *text = yyjson_val_write(value, YYJSON_WRITE_NOFLAG, &length);
  if (!text) return cr_strdup("?");
  if (length <= SHOWN_MAX) return text;
  char *cut = cr_format("%.*s…", (int)cr_utf8_prefix((const uint8_t *)text, length, SHOWN_MAX), text);
  free(text);
  return cut;
}

// --- numbers and equality -----------------------------------------------------------------------------------------

static int is_number(yyjson_val *value) { return yyjson_is_num(value) || yyjson_is_raw(value); }

static double number_of(yyjson_val *value) {
  return yyjson_is_raw(value) ? strtod(yyjson_get_raw(value), NULL) : yyjson_get_num(value);
}

static int is_integer(yyjson_val *value) {
  if (yyjson_is_int(value)) return 1;
  if (yyjson_is_raw(value) && !strpbrk(yyjson_get_raw(value), ".eE")) return 1;
  double number = is_number(value) ? number_of(value) : NAN;
  return isfinite(number) && floor(number) == number;
}

static int same(struct check *check, yyjson_val *a, yyjson_val *b);

static int same_objects(struct check *check, yyjson_val *a, yyjson_val *b) {
  size_t index, count;
  yyjson_val *key, *item;
  if (yyjson_obj_size(a) != yyjson_obj_size(b)) return 0;
  yyjson_obj_foreach(a, index, count, key, item) {
    yyjson_val *other = yyjson_obj_getn(b, yyjson_get_str(key), yyjson_get_len(key));
    if (!other || !same(check, item, other)) return 0;
  }
  return 1;
}

static int same(struct check *check, yyjson_val *a, yyjson_val *b) {
  if (++check->steps > STEPS_MAX) {
    unusable(check, "too much work");
    return 0;
  }
  if (is_number(a) && is_number(b)) return number_of(a) == number_of(b);
  if (yyjson_get_type(a) != yyjson_get_type(b)) return 0;
  if (yyjson_is_obj(a)) return same_objects(check, a, b);
  if (!yyjson_is_arr(a)) return yyjson_equals(a, b);
  if (yyjson_arr_size(a) != yyjson_arr_size(b)) return 0;
  yyjson_arr_iter other = yyjson_arr_iter_with(b);
  size_t index, count;
  yyjson_val *item;
  yyjson_arr_foreach(a, index, count, item) if (!same(check, item, yyjson_arr_iter_next(&other))) return 0;
  return 1;
}

// Whether the schema accepts the value, told to nobody.
static int accepts(struct check *check, yyjson_val *schema, yyjson_val *value) {
  size_t failures = check->failures;
  int quiet = check->quiet;
  check->quiet = 1;
  check_value(check, schema, value);
  int accepted = check->failures == failures;
  check->quiet = quiet;
  if (!check->unusable) check->failures = failures;
  return accepted;
}

// --- keywords for every type --------------------------------------------------------------------------------------

typedef void keyword(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value);

static int has_type(struct check *check, yyjson_val *name, yyjson_val *value) {
  const char *type = yyjson_get_str(name);
  if (!type) type = "";
  if (!strcmp(type, "null")) return yyjson_is_null(value);
  if (!strcmp(type, "boolean")) return yyjson_is_bool(value);
  if (!strcmp(type, "string")) return yyjson_is_str(value);
  if (!strcmp(type, "array")) return yyjson_is_arr(value);
  if (!strcmp(type, "object")) return yyjson_is_obj(value);
  if (!strcmp(type, "number")) return is_number(value);
  if (!strcmp(type, "integer")) return is_integer(value);
  unusable(check, "`type` names an unknown type");
  return 1;
}

static void check_type(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t index, count;
  yyjson_val *name;
  if (yyjson_is_arr(argument)) {
    yyjson_arr_foreach(argument, index, count, name) if (has_type(check, name, value)) return;
  } else if (has_type(check, argument, value)) {
    return;
  }
  cr_autofree char *text = shown(check, value), *types = shown(check, argument);
  if (yyjson_is_arr(argument))
    fail(check, "%s is not of types %s", text, types);
  else
    fail(check, "%s is not of type %s", text, types);
}

static void check_enum(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t index, count;
  yyjson_val *item;
  if (!yyjson_is_arr(argument)) {
    unusable(check, "`enum` is not an array");
    return;
  }
  yyjson_arr_foreach(argument, index, count, item) if (same(check, item, value)) return;
  cr_autofree char *text = shown(check, value), *choices = shown(check, argument);
  fail(check, "%s is not one of %s", text, choices);
}

static void check_const(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  if (same(check, argument, value)) return;
  cr_autofree char *expected = shown(check, argument);
  fail(check, "%s was expected", expected);
}

static void check_all_of(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t index, count;
  yyjson_val *part;
  yyjson_arr_foreach(argument, index, count, part) check_value(check, part, value);
}

static size_t accepting(struct check *check, yyjson_val *schemas, yyjson_val *value) {
  size_t index, count, matches = 0;
  yyjson_val *part;
  yyjson_arr_foreach(schemas, index, count, part) matches += (size_t)accepts(check, part, value);
  return matches;
}

static void check_any_of(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  if (accepting(check, argument, value)) return;
  cr_autofree char *text = shown(check, value);
  fail(check, "%s is not valid under any of the schemas listed in the 'anyOf' keyword", text);
}

static void check_one_of(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t matches = accepting(check, argument, value);
  if (matches == 1) return;
  cr_autofree char *text = shown(check, value);
  fail(check, "%s is valid under %s of the schemas listed in the 'oneOf' keyword", text,
       matches ? "more than one" : "none");
}

static void check_not(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  if (!accepts(check, argument, value)) return;
  cr_autofree char *text = shown(check, value), *forbidden = shown(check, argument);
  fail(check, "%s is not allowed for %s", forbidden, text);
}

static void check_if(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  yyjson_val *next = yyjson_obj_get(schema, accepts(check, argument, value) ? "then" : "else");
  if (next) check_value(check, next, value);
}

// --- references ---------------------------------------------------------------------------------------------------

static void decode_segment(char *text) {
  char *to = text;
  for (const char *from = text; *from; from++) {
    if (*from == '~' && (from[1] == '0' || from[1] == '1')) {
      *to++ = *++from == '0' ? '~' : '/';
    } else if (*from == '%' && isxdigit((unsigned char)from[1]) && isxdigit((unsigned char)from[2])) {
      const char digits[] = {from[1], from[2], 0};
      *to++ = (char)strtoul(digits, NULL, 16);
      from += 2;
    } else {
      *to++ = *from;
    }
  }
  *to = 0;
}

static yyjson_val *follow(yyjson_val *at, const char *pointer) {
  cr_autofree char *copy = cr_strdup(pointer);
  char *rest = copy + (*copy == '/');
  if (!*copy) return at;
  for (char *segment; (segment = strsep(&rest, "/"));) {
    decode_segment(segment);
    char *end = NULL;
    unsigned long index = strtoul(segment, &end, 10);
    at = yyjson_is_arr(at) ? (*segment && !*end ? yyjson_arr_get(at, index) : NULL) : yyjson_obj_get(at, segment);
  }
  return at;
}

static yyjson_val *find_anchor(struct check *check, yyjson_val *at, const char *name) {
  size_t index, count;
  yyjson_val *key, *item, *found = NULL;
  if (++check->steps > STEPS_MAX) return NULL;
  if (yyjson_is_obj(at)) {
    if (yyjson_equals_str(yyjson_obj_get(at, "$anchor"), name)) return at;
    yyjson_obj_foreach(at, index, count, key, item) if (!found) found = find_anchor(check, item, name);
  } else if (yyjson_is_arr(at)) {
    yyjson_arr_foreach(at, index, count, item) if (!found) found = find_anchor(check, item, name);
  }
  return found;
}

static void check_ref(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  const char *ref = yyjson_get_str(argument);
  yyjson_val *target = NULL;
  if (ref && ref[0] == '#')
    target = ref[1] == '/' || !ref[1] ? follow(check->root, ref + 1) : find_anchor(check, check->root, ref + 1);
  if (target)
    check_value(check, target, value);
  else
    unusable(check, "a `$ref` points nowhere, or out of the schema");
}

// --- numbers ------------------------------------------------------------------------------------------------------

struct bound {
  const char *text;
  int (*broken)(double number, double limit);
};

static int below(double number, double limit) { return number < limit; }
static int above(double number, double limit) { return number > limit; }
static int not_above(double number, double limit) { return number <= limit; }
static int not_below(double number, double limit) { return number >= limit; }

static void check_bound(struct check *check, yyjson_val *argument, yyjson_val *value, const struct bound *bound) {
  if (!is_number(argument)) {
    if (!yyjson_is_bool(argument)) unusable(check, "a limit is not a number");
    return;  // a boolean is draft 4
  }
  if (!is_number(value) || !bound->broken(number_of(value), number_of(argument))) return;
  cr_autofree char *text = shown(check, value), *limit = shown(check, argument);
  fail(check, "%s is %s of %s", text, bound->text, limit);
}

#define BOUND(name, words, test)                                                                       \
  static void name(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) { \
    (void)schema;                                                                                      \
    check_bound(check, argument, value, &(struct bound){words, test});                                 \
  }
BOUND(check_minimum, "less than the minimum", below)
BOUND(check_maximum, "greater than the maximum", above)
BOUND(check_above, "less than or equal to the minimum", not_above)
BOUND(check_below, "greater than or equal to the maximum", not_below)

static void check_multiple(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  double unit = is_number(argument) ? number_of(argument) : 0;
  if (unit <= 0) {
    unusable(check, "`multipleOf` is not a positive number");
    return;
  }
  if (!is_number(value)) return;
  double quotient = number_of(value) / unit;
  if (fabs(quotient - round(quotient)) <= 1e-9 * fmax(1, fabs(quotient))) return;
  cr_autofree char *text = shown(check, value), *step = shown(check, argument);
  fail(check, "%s is not a multiple of %s", text, step);
}

// --- sizes --------------------------------------------------------------------------------------------------------

struct size_rule {
  int (*applies)(yyjson_val *value);
  int most;  // an upper limit
  const char *text;
};

static int is_text(yyjson_val *value) { return yyjson_is_str(value); }
static int is_array(yyjson_val *value) { return yyjson_is_arr(value); }
static int is_object(yyjson_val *value) { return yyjson_is_obj(value); }

static void check_size(struct check *check, yyjson_val *argument, yyjson_val *value, const struct size_rule *rule) {
  if (!is_integer(argument) || number_of(argument) < 0) {
    unusable(check, "a size limit is not a whole number");
    return;
  }
  if (!rule->applies(value)) return;
  size_t size = yyjson_is_str(value) ? cr_utf8_count((const uint8_t *)yyjson_get_str(value), yyjson_get_len(value))
                                     : yyjson_get_len(value);
  double limit = number_of(argument);
  if (rule->most ? (double)size <= limit : (double)size >= limit) return;
  cr_autofree char *text = shown(check, value);
  fail(check, rule->most ? "%s has more than %.0f %s" : "%s has less than %.0f %s", text, limit, rule->text);
}

#define SIZE(name, kind, most, words)                                                                  \
  static void name(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) { \
    (void)schema;                                                                                      \
    check_size(check, argument, value, &(struct size_rule){kind, most, words});                        \
  }
SIZE(check_min_length, is_text, 0, "characters")
SIZE(check_max_length, is_text, 1, "characters")
SIZE(check_min_items, is_array, 0, "items")
SIZE(check_max_items, is_array, 1, "items")
SIZE(check_min_properties, is_object, 0, "properties")
SIZE(check_max_properties, is_object, 1, "properties")

// --- texts --------------------------------------------------------------------------------------------------------

// 1: matches; 0: does not; -1: the pattern is unusable (and said so). PCRE2 comes close enough to ECMA 262, and can be
// bounded.
static int matches(struct check *check, const char *pattern, const char *text, size_t length) {
  int code = 0;
  PCRE2_SIZE where = 0;
  if (++check->steps > STEPS_MAX / 10) {
    unusable(check, "too much work");
    return -1;
  }
  pcre2_code *regex =
      pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
                    PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_NEVER_BACKSLASH_C, &code, &where, NULL);
  if (!regex) {
    unusable(check, "a pattern is not a regular expression");
    return -1;
  }
  pcre2_match_context *context = pcre2_match_context_create(NULL);
  pcre2_match_data *data = pcre2_match_data_create(1, NULL);
  if (!context || !data) cr_out_of_memory();
  pcre2_set_match_limit(context, 100000);
  pcre2_set_heap_limit(context, 1024);
  int result = pcre2_match(regex, (PCRE2_SPTR)text, length, 0, 0, data, context);
  pcre2_match_data_free(data);
  pcre2_match_context_free(context);
  pcre2_code_free(regex);
  if (result >= 0) return 1;
  if (result == PCRE2_ERROR_NOMATCH) return 0;
  unusable(check, "a pattern takes too long to match");
  return -1;
}

static void check_pattern(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  if (!yyjson_is_str(argument)) {
    unusable(check, "`pattern` is not a string");
    return;
  }
  if (!yyjson_is_str(value) || matches(check, yyjson_get_str(argument), yyjson_get_str(value), yyjson_get_len(value)))
    return;
  cr_autofree char *text = shown(check, value), *pattern = shown(check, argument);
  fail(check, "%s does not match %s", text, pattern);
}

// --- objects ------------------------------------------------------------------------------------------------------

static void check_required(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t index, count;
  yyjson_val *name;
  if (!yyjson_is_arr(argument) || !yyjson_is_obj(value)) return;
  yyjson_arr_foreach(argument, index, count, name) {
    if (!yyjson_is_str(name) || yyjson_obj_getn(value, yyjson_get_str(name), yyjson_get_len(name))) continue;
    cr_autofree char *text = shown(check, name);
    fail(check, "%s is a required property", text);
  }
}

static void check_properties(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t index, count;
  yyjson_val *name, *part;
  if (!yyjson_is_obj(value)) return;
  yyjson_obj_foreach(argument, index, count, name, part) {
    yyjson_val *member = yyjson_obj_getn(value, yyjson_get_str(name), yyjson_get_len(name));
    if (member) check_value(check, part, member);
  }
}

static void check_pattern_properties(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t i, n, j, m;
  yyjson_val *pattern, *part, *name, *member;
  if (!yyjson_is_obj(value)) return;
  yyjson_obj_foreach(argument, i, n, pattern, part) yyjson_obj_foreach(value, j, m, name, member) {
    if (matches(check, yyjson_get_str(pattern), yyjson_get_str(name), yyjson_get_len(name)) > 0)
      check_value(check, part, member);
  }
}

static int is_described(struct check *check, yyjson_val *schema, yyjson_val *name) {
  size_t index, count;
  yyjson_val *patterns = yyjson_obj_get(schema, "patternProperties"), *pattern, *part;
  if (yyjson_obj_getn(yyjson_obj_get(schema, "properties"), yyjson_get_str(name), yyjson_get_len(name))) return 1;
  if (!patterns) return 0;
  yyjson_obj_foreach(patterns, index, count, pattern, part) {
    (void)part;
    if (matches(check, yyjson_get_str(pattern), yyjson_get_str(name), yyjson_get_len(name))) return 1;
  }
  return 0;
}

static void check_additional(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  size_t index, count;
  yyjson_val *name, *member;
  if (!yyjson_is_obj(value)) return;
  yyjson_obj_foreach(value, index, count, name, member) {
    if (is_described(check, schema, name)) continue;
    if (yyjson_is_false(argument))
      fail(check, "Additional properties are not allowed ('%.100s' was unexpected)", yyjson_get_str(name));
    else
      check_value(check, argument, member);
  }
}

static void check_names(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  size_t index, count;
  yyjson_val *name, *member;
  if (!yyjson_is_obj(value)) return;
  yyjson_obj_foreach(value, index, count, name, member) {
    (void)member;
    check_value(check, argument, name);
  }
}

static void check_dependencies(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  size_t index, count;
  yyjson_val *name, *part;
  if (!yyjson_is_obj(value)) return;
  yyjson_obj_foreach(argument, index, count, name, part) {
    if (!yyjson_obj_getn(value, yyjson_get_str(name), yyjson_get_len(name))) continue;
    if (yyjson_is_arr(part))
      check_required(check, schema, part, value);
    else
      check_value(check, part, value);
  }
}

// --- arrays -------------------------------------------------------------------------------------------------------

// Items from `from` on.
static void check_rest(struct check *check, yyjson_val *part, yyjson_val *value, size_t from) {
  size_t index, count;
  yyjson_val *item;
  yyjson_arr_foreach(value, index, count, item) if (index >= from) check_value(check, part, item);
}

static void check_prefix(struct check *check, yyjson_val *parts, yyjson_val *value) {
  size_t index, count;
  yyjson_val *part, *item;
  yyjson_arr_iter items = yyjson_arr_iter_with(value);
  yyjson_arr_foreach(parts, index, count, part) {
    if (!(item = yyjson_arr_iter_next(&items))) return;
    check_value(check, part, item);
  }
}

static void check_prefix_items(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  if (yyjson_is_arr(value)) check_prefix(check, argument, value);
}

static void check_items(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  if (!yyjson_is_arr(value)) return;
  if (yyjson_is_arr(argument))
    check_prefix(check, argument, value);
  else
    check_rest(check, argument, value, yyjson_arr_size(yyjson_obj_get(schema, "prefixItems")));
}

static void check_additional_items(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  yyjson_val *items = yyjson_obj_get(schema, "items");
  if (yyjson_is_arr(value) && yyjson_is_arr(items)) check_rest(check, argument, value, yyjson_arr_size(items));
}

static void check_contains(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  size_t index, count, found = 0;
  yyjson_val *item, *least = yyjson_obj_get(schema, "minContains"), *most = yyjson_obj_get(schema, "maxContains");
  if (!yyjson_is_arr(value)) return;
  yyjson_arr_foreach(value, index, count, item) found += (size_t)accepts(check, argument, item);
  double low = is_number(least) ? number_of(least) : 1, high = is_number(most) ? number_of(most) : INFINITY;
  if ((double)found >= low && (double)found <= high) return;
  fail(check, "the array contains %zu matching items, which is not allowed", found);
}

static void check_unique(struct check *check, yyjson_val *schema, yyjson_val *argument, yyjson_val *value) {
  (void)schema;
  if (!yyjson_is_true(argument) || !yyjson_is_arr(value)) return;
  size_t i, n;
  yyjson_val *one;
  yyjson_arr_foreach(value, i, n, one) {
    yyjson_arr_iter rest = yyjson_arr_iter_with(value);
    yyjson_val *other;
    for (size_t j = 0; j < i && !check->unusable && (other = yyjson_arr_iter_next(&rest)); j++) {
      if (!same(check, one, other)) continue;
      cr_autofree char *text = shown(check, value);
      fail(check, "%s has non-unique elements", text);
      return;
    }
  }
}

// --- all of them --------------------------------------------------------------------------------------------------

static const struct {
  const char *name;
  keyword *run;
} keywords[] = {
    {"type", check_type},
    {"enum", check_enum},
    {"const", check_const},
    {"allOf", check_all_of},
    {"anyOf", check_any_of},
    {"oneOf", check_one_of},
    {"not", check_not},
    {"if", check_if},
    {"$ref", check_ref},
    {"minimum", check_minimum},
    {"maximum", check_maximum},
    {"exclusiveMinimum", check_above},
    {"exclusiveMaximum", check_below},
    {"multipleOf", check_multiple},
    {"minLength", check_min_length},
    {"maxLength", check_max_length},
    {"pattern", check_pattern},
    {"required", check_required},
    {"properties", check_properties},
    {"patternProperties", check_pattern_properties},
    {"additionalProperties", check_additional},
    {"propertyNames", check_names},
    {"minProperties", check_min_properties},
    {"maxProperties", check_max_properties},
    {"dependencies", check_dependencies},
    {"dependentRequired", check_dependencies},
    {"dependentSchemas", check_dependencies},
    {"prefixItems", check_prefix_items},
    {"items", check_items},
    {"additionalItems", check_additional_items},
    {"contains", check_contains},
    {"minItems", check_min_items},
    {"maxItems", check_max_items},
    {"uniqueItems", check_unique},
};
#define KEYWORDS (sizeof keywords / sizeof *keywords)

static void check_object(struct check *check, yyjson_val *schema, yyjson_val *value) {
  size_t index, count;
  yyjson_val *name, *argument;
  yyjson_obj_foreach(schema, index, count, name, argument) {
    for (size_t i = 0; i < KEYWORDS && !check->unusable; i++)
      if (yyjson_equals_str(name, keywords[i].name)) keywords[i].run(check, schema, argument, value);
  }
}

static void check_value(struct check *check, yyjson_val *schema, yyjson_val *value) {
  if (check->unusable) return;
  if (++check->steps > STEPS_MAX || check->depth >= DEPTH_MAX) {
    unusable(check, "too much work, or it refers to itself without end");
    return;
  }
  check->depth++;
  if (yyjson_is_false(schema)) {
    cr_autofree char *text = shown(check, value);
    fail(check, "False schema does not allow %s", text);
  } else if (yyjson_is_obj(schema)) {
    check_object(check, schema, value);
  } else if (!yyjson_is_true(schema)) {
    unusable(check, "a schema must be an object or a boolean");
  }
  check->depth--;
}

int cr_schema_check(yyjson_val *schema, yyjson_val *value, struct cr_buf *errors) {
  struct check check = {.root = schema, .errors = errors};
  check_value(&check, schema, value);
  return check.failures ? -1 : 0;
}
