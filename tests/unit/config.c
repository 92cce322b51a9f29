// worker/config.h: contract 15.1.
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json.h"
#include "worker/config.h"

static int read_text(const char *json, struct cr_config *config, struct cr_error *err) {
  yyjson_doc *doc = cr_json_parse(json, strlen(json), NULL);
  assert_non_null(doc);
  int result = cr_config_read(yyjson_doc_get_root(doc), config, err);
  yyjson_doc_free(doc);
  return result;
}

static void the_defaults_are_those_of_the_contract(void **state) {
  (void)state;
  struct cr_config c;
  cr_config_defaults(&c);
  assert_int_equal(c.max_runtimes, 32);
  assert_int_equal(c.default_timeout_ms, 5000);
  assert_int_equal(c.max_timeout_ms, 30000);
  assert_int_equal(c.idle_ttl_secs, 900);
  assert_int_equal(c.heap_mb, 128);
  assert_int_equal(c.external_mb, 64);
  assert_int_equal(c.scratch_mb, 8);
  assert_int_equal(c.scratch_files, 64);
  assert_null(c.scratch_root);
  assert_int_equal(c.inject_guidance, 1);
  assert_int_equal(c.max_result_bytes, 32768);
  assert_int_equal(c.max_stream_bytes, 16384);
}

static void missing_keys_take_their_defaults(void **state) {
  (void)state;
  struct cr_config c;
  cr_config_defaults(&c);
  c.max_runtimes = 1;
  assert_int_equal(read_text("{\"heap_mb\":7}", &c, NULL), 0);
  assert_int_equal(c.heap_mb, 7);
  assert_int_equal(c.max_runtimes, 32);
  cr_config_free(&c);
}

static void every_key_is_read(void **state) {
  (void)state;
  struct cr_config c;
  cr_config_defaults(&c);
  assert_int_equal(read_text("{\"max_runtimes\":1,\"default_timeout_ms\":2,\"max_timeout_ms\":3,\"idle_ttl_secs\":4,"
                             "\"heap_mb\":5,\"external_mb\":6,\"scratch_mb\":7,\"scratch_files\":8,"
                             "\"scratch_root\":\"/x\",\"inject_guidance\":false,\"max_result_bytes\":9,"
                             "\"max_stream_bytes\":0}",
                             &c, NULL),
                   0);
  const uint64_t got[] = {c.max_runtimes, c.default_timeout_ms, c.max_timeout_ms, c.idle_ttl_secs,   c.heap_mb,
                          c.external_mb,  c.scratch_mb,         c.scratch_files,  c.max_result_bytes};
  for (size_t i = 0; i < sizeof got / sizeof *got; i++) assert_int_equal(got[i], i + 1);
  assert_int_equal(c.max_stream_bytes, 0);
  assert_int_equal(c.inject_guidance, 0);
  assert_string_equal(c.scratch_root, "/x");
  cr_config_free(&c);
}

static void refuses(const char *json, const char *key) {
  struct cr_config c;
  cr_config_defaults(&c);
  c.max_runtimes = 77;
  struct cr_error err = {0};
  assert_int_equal(read_text(json, &c, &err), -1);
  assert_string_equal(err.code, CR_INVALID_REQUEST);
  if (!strstr(err.message, key)) fail_msg("%s is not named in: %s", key, err.message);
  assert_int_equal(c.max_runtimes, 77);
  cr_error_clear(&err);
  cr_config_free(&c);
}

static void unknown_keys_are_refused_by_name(void **state) {
  (void)state;
  refuses("{\"max_runtimes\":1,\"heap\":1}", "heap");
  refuses("{\"\":1}", "``");
}

static void wrong_values_are_refused_by_name(void **state) {
  (void)state;
  static const char *const numbers[] = {"max_runtimes",     "default_timeout_ms", "max_timeout_ms", "idle_ttl_secs",
                                        "heap_mb",          "external_mb",        "scratch_mb",     "scratch_files",
                                        "max_result_bytes", "max_stream_bytes"};
  static const char *const bad[] = {"-1",   "1.5", "1.0", "\"1\"", "null",
                                    "true", "[]",  "{}",  "1e3",   "99999999999999999999"};
  for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
      char json[96];
      snprintf(json, sizeof json, "{\"%s\":%s}", numbers[n], bad[b]);
      refuses(json, numbers[n]);
    }
  static const char *const switches[] = {"1", "null", "\"true\"", "[]"};
  for (size_t b = 0; b < sizeof switches / sizeof *switches; b++) {
    char json[96];
    snprintf(json, sizeof json, "{\"inject_guidance\":%s}", switches[b]);
    refuses(json, "inject_guidance");
  }
  refuses("{\"scratch_root\":1}", "scratch_root");
  refuses("{\"scratch_root\":true}", "scratch_root");
}

static void it_must_be_an_object(void **state) {
  (void)state;
  refuses("[]", "object");
  refuses("null", "object");
  refuses("3", "object");
}

static void an_empty_or_null_scratch_root_is_none(void **state) {
  (void)state;
  struct cr_config c;
  cr_config_defaults(&c);
  assert_int_equal(read_text("{\"scratch_root\":\"\"}", &c, NULL), 0);
  assert_null(c.scratch_root);
  assert_int_equal(read_text("{\"scratch_root\":null}", &c, NULL), 0);
  assert_null(c.scratch_root);
  assert_int_equal(read_text("{\"scratch_root\":\"/a\"}", &c, NULL), 0);
  assert_int_equal(read_text("{\"scratch_root\":\"/b\"}", &c, NULL), 0);
  assert_string_equal(c.scratch_root, "/b");
  cr_config_free(&c);
}

static void a_yaml_file_is_read(void **state) {
  (void)state;
  char path[] = "/tmp/code-runner-unit-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  dprintf(file, "# settings\nheap_mb: 64\nscratch_root: /somewhere\ninject_guidance: false\n");
  struct cr_config c;
  cr_config_defaults(&c);
  assert_int_equal(cr_config_load(path, &c, NULL), 0);
  assert_int_equal(c.heap_mb, 64);
  assert_string_equal(c.scratch_root, "/somewhere");
  assert_int_equal(ftruncate(file, 0), 0);
  assert_int_equal(cr_config_load(path, &c, NULL), 0);
  assert_int_equal(c.heap_mb, 128);
  unlink(path);
  struct cr_error err = {0};
  assert_int_equal(cr_config_load(path, &c, &err), -1);
  assert_non_null(strstr(err.message, path));
  cr_error_clear(&err);
  close(file);
  cr_config_free(&c);
}

static void hot_keys_apply_and_others_only_report(void **state) {
  (void)state;
  struct cr_config now, wanted;
  cr_config_defaults(&now);
  cr_config_defaults(&wanted);
  wanted.default_timeout_ms = wanted.max_timeout_ms = wanted.max_result_bytes = wanted.max_stream_bytes = 1;
  wanted.inject_guidance = 0;
  assert_int_equal(cr_config_apply(&now, &wanted), 0);
  assert_int_equal(now.default_timeout_ms + now.max_timeout_ms + now.max_result_bytes + now.max_stream_bytes, 4);
  assert_int_equal(now.inject_guidance, 0);
  uint64_t *const cold[] = {&wanted.max_runtimes, &wanted.idle_ttl_secs, &wanted.heap_mb,
                            &wanted.external_mb,  &wanted.scratch_mb,    &wanted.scratch_files};
  for (size_t i = 0; i < sizeof cold / sizeof *cold; i++) {
    uint64_t before = *cold[i];
    *cold[i] = 12345;
    assert_int_equal(cr_config_apply(&now, &wanted), 1);
    *cold[i] = before;
    assert_int_equal(cr_config_apply(&now, &wanted), 0);
  }
  assert_int_equal(now.max_runtimes, 32);
  wanted.scratch_root = "/x";
  assert_int_equal(cr_config_apply(&now, &wanted), 1);
  assert_null(now.scratch_root);
}

static void budgets_are_clamped(void **state) {
  (void)state;
  struct cr_config c;
  cr_config_defaults(&c);
  assert_int_equal(cr_config_budget(&c, 0), 5000);
  assert_int_equal(cr_config_budget(&c, 1), 1);
  assert_int_equal(cr_config_budget(&c, 30000), 30000);
  assert_int_equal(cr_config_budget(&c, 30001), 30000);
  assert_int_equal(cr_config_budget(&c, UINT64_MAX), 30000);
  c.default_timeout_ms = 60000;
  assert_int_equal(cr_config_budget(&c, 0), 30000);
  c.max_timeout_ms = 0;
  assert_int_equal(cr_config_budget(&c, 0), 1);
  assert_int_equal(cr_config_budget(&c, 9), 1);
}

static void the_schema_and_the_value_list_the_same_twelve_keys(void **state) {
  (void)state;
  struct cr_config c;
  cr_config_defaults(&c);
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *value = cr_config_value(&c, doc), *schema = cr_config_schema(doc);
  yyjson_mut_val *properties = yyjson_mut_obj_get(schema, "properties");
  assert_int_equal(yyjson_mut_obj_size(value), 12);
  assert_int_equal(yyjson_mut_obj_size(properties), 12);
  assert_true(yyjson_mut_is_false(yyjson_mut_obj_get(schema, "additionalProperties")));
  yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(value);
  for (yyjson_mut_val *key; (key = yyjson_mut_obj_iter_next(&iter));) {
    yyjson_mut_val *property = yyjson_mut_obj_get(properties, yyjson_mut_get_str(key));
    assert_non_null(property);
    assert_true(yyjson_mut_equals(yyjson_mut_obj_get(property, "default"), yyjson_mut_obj_iter_get_val(key)));
  }
  yyjson_mut_doc_free(doc);
}

UNIT_MAIN(T(the_defaults_are_those_of_the_contract), T(missing_keys_take_their_defaults), T(every_key_is_read),
          T(unknown_keys_are_refused_by_name), T(wrong_values_are_refused_by_name), T(it_must_be_an_object),
          T(an_empty_or_null_scratch_root_is_none), T(a_yaml_file_is_read), T(hot_keys_apply_and_others_only_report),
          T(budgets_are_clamped), T(the_schema_and_the_value_list_the_same_twelve_keys))
