#include "worker/schemas.h"

// clang-format off
const struct cr_own_function cr_own_functions[] = {
  {.id = "code-runner::run",
   .description =
    "Execute code in a sealed sandbox, `lang` \"node\" or \"python\"; no network, no packages, no host "
    "files. One-shot unless `keep: true`, which answers a `runtime_id` for later calls (same globals "
    "and files) until code-runner::teardown or the idle limit ends it, after which the id answers "
    "code-runner::expired. Guest code has an `iii` global. A failing script is a normal response: "
    "read exit_code, stdout, stderr. `result` is the value produced: node code is a function body "
    "(`return x`), python code a module (`result = x`).",
   .request =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"RunRequest\",\"type\":\"object\","
    "\"required\":[\"code\"],\"properties\":{\"code\":{\"type\":\"string\","
    "\"description\":\"node: body of an async function (`return` the result); python: a module (assign `result`)\"},"
    "\"runtime_id\":{\"type\":[\"string\",\"null\"],\"default\":null,\"description\":\"run in this kept runtime\"},"
    "\"lang\":{\"enum\":[\"node\",\"python\",null],\"default\":null,"
    "\"description\":\"required without runtime_id\"},\"keep\":{\"type\":\"boolean\",\"default\":false,"
    "\"description\":\"keep the new runtime and answer its runtime_id\"},\"timeout_ms\":{\"type\":[\"integer\","
    "\"null\"],\"minimum\":0,\"default\":null,\"description\":\"wall-clock budget; 0 or null: the default\"},"
    "\"memory_mb\":{\"type\":[\"integer\",\"null\"],\"minimum\":0,\"default\":null,\"description\":\"python,"
    " at creation: memory cap in MiB\"}}}",
   .response =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"RunResponse\",\"type\":\"object\","
    "\"required\":[\"duration_ms\",\"exit_code\",\"result\",\"stderr\",\"stdout\",\"success\"],"
    "\"properties\":{\"runtime_id\":{\"type\":\"string\"},\"stdout\":{\"type\":\"string\"},"
    "\"stderr\":{\"type\":\"string\"},\"exit_code\":{\"type\":\"integer\"},\"success\":{\"type\":\"boolean\"},"
    "\"duration_ms\":{\"type\":\"integer\",\"minimum\":0},\"result\":{}}}",
   .internal = 0},
  {.id = "code-runner::teardown",
   .description =
    "End a runtime: unpublish every function it registered, kill it, free its slot. Give exactly one "
    "of `runtime_id` (from a kept run) or `namespace` (from register_function, e.g. \"app\" for "
    "app::greet).",
   .request =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"TeardownRequest\",\"type\":\"object\","
    "\"properties\":{\"runtime_id\":{\"type\":[\"string\",\"null\"],\"default\":null},"
    "\"namespace\":{\"type\":[\"string\",\"null\"],\"default\":null}}}",
   .response =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"TeardownResponse\",\"type\":\"object\","
    "\"required\":[\"torn_down\",\"unregistered\"],\"properties\":{\"runtime_id\":{\"type\":\"string\"},"
    "\"namespace\":{\"type\":\"string\"},\"torn_down\":{\"type\":\"boolean\"},\"unregistered\":{\"type\":\"array\","
    "\"items\":{\"type\":\"string\"}}}}",
   .internal = 0},
  {.id = "code-runner::register_function",
   .description =
    "Publish a bus function served from a sandbox. `source` must define handler(payload) in `lang`. "
    "One lasting runtime per namespace (text before `::`) and language, started by the first "
    "registration. Give a `description`; optional `request_format`/`response_format` (JSON Schema "
    "objects, up to 16 KiB) are shown by engine::functions::info and are not enforced on calls. "
    "Functions end when the namespace is torn down.",
   .request =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"RegisterRequest\",\"type\":\"object\","
    "\"required\":[\"function_id\",\"lang\",\"source\"],\"properties\":{\"function_id\":{\"type\":\"string\","
    "\"description\":\"`<namespace>::<name>`, e.g. my-app::greet\"},\"source\":{\"type\":\"string\","
    "\"description\":\"defines handler(payload)\"},\"lang\":{\"type\":\"string\",\"enum\":[\"node\",\"python\"]},"
    "\"description\":{\"type\":[\"string\",\"null\"],\"default\":null},\"request_format\":{\"type\":[\"object\","
    "\"null\"],\"default\":null,\"description\":\"JSON Schema, shown and not enforced\"},"
    "\"response_format\":{\"type\":[\"object\",\"null\"],\"default\":null}}}",
   .response =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"RegisterResponse\",\"type\":\"object\","
    "\"required\":[\"function_id\",\"registered\"],\"properties\":{\"function_id\":{\"type\":\"string\"},"
    "\"registered\":{\"type\":\"boolean\"}}}",
   .internal = 0},
  {.id = "code-runner::inject-guidance",
   .description =
    "Internal pre-generate hook that appends code-runner usage guidance to the system prompt.",
   .request =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"PreGenerateEvent\",\"type\":\"object\","
    "\"properties\":{\"generate\":{\"type\":\"object\",\"properties\":{\"system_prompt\":{\"type\":\"string\","
    "\"default\":\"\"}}}}}",
   .response =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"PreGenerateResponse\","
    "\"type\":\"object\",\"required\":[\"mutations\"],\"properties\":{\"mutations\":{\"type\":\"object\","
    "\"properties\":{\"system_prompt\":{\"type\":\"string\"}}}}}",
   .internal = 1},
  {.id = "code-runner::ui-content",
   .description =
    "Serves code-runner's console UI assets.",
   .request =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"UiContentInput\",\"type\":\"object\","
    "\"required\":[\"path\"],\"properties\":{\"path\":{\"type\":\"string\"}}}",
   .response =
    "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"UiContentResult\",\"type\":\"object\","
    "\"required\":[\"content\",\"content_type\"],\"properties\":{\"content\":{\"type\":\"string\"},"
    "\"content_type\":{\"type\":\"string\"}}}",
   .internal = 1},
  {.id = "code-runner::on-config-change",
   .description =
    "Internal: re-read code-runner settings; caps, timeouts and guidance apply at once, the rest at "
    "restart.",
   .request =
    "{\"type\":\"object\"}",
   .response =
    "{\"type\":\"object\",\"required\":[\"ok\"],\"properties\":{\"ok\":{\"type\":\"boolean\"}}}",
   .internal = 1},
};
// clang-format on
const size_t cr_own_functions_count = sizeof cr_own_functions / sizeof *cr_own_functions;
