// worker/targets.h: contract 11.
#include "unit.h"

#include "base/json.h"
#include "worker/targets.h"

static const char *const refused[] = {"state::claim-namespace",
                                      "harness::state::x",
                                      "harness::state::",
                                      "provider-openai-codex::state::get",
                                      "provider::openai-codex::login::start",
                                      "provider::openai-codex::auth::token"};
static const char *const allowed[] = {"provider::openai-codex::authenticate",
                                      "provider::openai-codex::stream",
                                      "provider-openai-codex::state-info",
                                      "state::get",
                                      "state::set",
                                      "state::claim-namespace2",
                                      "harness::state",
                                      "Harness::state::x",
                                      "STATE::claim-namespace",
                                      " state::claim-namespace",
                                      "code-runner::run",
                                      ""};
#define COUNT(array) (sizeof array / sizeof *array)

static int call(const char *id, const char *payload, struct cr_error *err) {
  yyjson_doc *doc = cr_json_parse(payload, strlen(payload), NULL);
  assert_non_null(doc);
  int result = cr_target_call(id, yyjson_doc_get_root(doc), err);
  yyjson_doc_free(doc);
  return result;
}

static void must_fail(int result, struct cr_error *err, const char *fragment, const char *id) {
  assert_int_equal(result, -1);
  if (!strstr(err->message, fragment)) fail_msg("`%s` is not in: %s", fragment, err->message);
  if (!strstr(err->message, id)) fail_msg("`%s` is not in: %s", id, err->message);
  cr_error_clear(err);
}

static void operator_only_targets_are_refused(void **state) {
  (void)state;
  struct cr_error err = {0};
  for (size_t i = 0; i < COUNT(refused); i++) {
    must_fail(call(refused[i], "{}", &err), &err, "operator-only", refused[i]);
    must_fail(cr_target_bind(refused[i], &err), &err, "operator-only", refused[i]);
  }
}

static void neighbours_are_allowed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(allowed); i++) {
    assert_int_equal(call(allowed[i], "{}", NULL), 0);
    assert_int_equal(cr_target_bind(allowed[i], NULL), 0);
  }
}

static void a_trigger_cannot_bind_the_binder(void **state) {
  (void)state;
  struct cr_error err = {0};
  must_fail(cr_target_bind("engine::register_trigger", &err), &err, "operator-only", "engine::register_trigger");
  must_fail(cr_target_bind("engine::unregister_trigger", &err), &err, "operator-only", "engine::unregister_trigger");
  assert_int_equal(call("engine::unregister_trigger", "{}", NULL), 0);
}

static void a_nested_binding_is_looked_at(void **state) {
  (void)state;
  struct cr_error err = {0};
  assert_int_equal(call("engine::register_trigger", "{\"function_id\":\"my::fn\"}", NULL), 0);
  must_fail(call("engine::register_trigger", "{\"function_id\":\"harness::state::x\"}", &err), &err, "operator-only",
            "harness::state::x");
  must_fail(call("engine::register_trigger", "{\"function_id\":\"engine::register_trigger\"}", &err), &err,
            "operator-only", "engine::register_trigger");
  static const char *const missing[] = {"{}",
                                        "null",
                                        "[]",
                                        "3",
                                        "{\"function_id\":1}",
                                        "{\"function_id\":null}",
                                        "{\"function_id\":[\"my::fn\"]}",
                                        "{\"function_id\":\"my::fn\\u0000harness\"}",
                                        "{\"function_id\":\"my::fn\",\"function_id\":\"harness::state::x\"}"};
  for (size_t i = 0; i < COUNT(missing); i++)
    must_fail(call("engine::register_trigger", missing[i], &err), &err, "function_id", "");
}

UNIT_MAIN(T(operator_only_targets_are_refused), T(neighbours_are_allowed), T(a_trigger_cannot_bind_the_binder),
          T(a_nested_binding_is_looked_at))
