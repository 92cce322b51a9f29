// code-runner::inject-guidance: contract 16.1.
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "worker/functions.h"
#include "worker/internal.h"

#define PROMPT_MAX (64ul << 20)

// Arguments: the versions of Node.js and of Python.
static const char guidance[] =
    "Use `code-runner::*` to compute, reshape data or publish small functions.\n"
    "`code-runner::run {lang, code}` executes in a sandbox: no network, no processes, no npm or pip, no host files or "
    "environment.\n"
    "- lang \"node\" (Node.js %s): code is an async function body, so `return x`; `await`, `require` and `await "
    "import()` of "
    "built-in modules work, TypeScript types are stripped. Lasting state goes on `globalThis`.\n"
    "- lang \"python\" (Python %s, whole standard library): code is a module, so `result = x`; a top-level return is a "
    "SyntaxError.\n"
    "Files go in `/work`, in node also through `iii.files` (write/read/readText/list/remove).\n"
    "A failing script is a response: read exit_code and stderr. Big result/stdout/stderr come back cut, so return "
    "summaries.\n"
    "One-shot by default. `keep: true` answers a `runtime_id`; send it again for the same globals and files, and keep "
    "it "
    "secret. After `code-runner::expired` start over without it.\n"
    "In code, `iii.trigger({function_id, payload})` calls any bus function (await it in node; python blocks). Node "
    "adds "
    "`iii.registerFunction(id, fn, opts)` under the prefix `iii.namespace`, gone with its runtime. `iii.shutdown()` "
    "always "
    "throws.\n"
    "`code-runner::register_function {function_id: \"my-app::greet\", lang, source, description}` publishes a lasting "
    "function "
    "whose source defines `handler(payload)`. Describe it. request_format/response_format (JSON Schema) are shown by "
    "`engine::functions::info`, never enforced, so check input in the handler. An id already held gives "
    "`code-runner::invalid_request`.\n"
    "`code-runner::teardown` takes either runtime_id or namespace; its functions stop answering at once. See "
    "`engine::functions::info` for exact shapes first.";

static const char *version(struct cr_worker *worker, enum cr_lang lang) {
  const char *text = worker->zygotes[lang] ? cr_zygote_version(worker->zygotes[lang]) : "";
  return *text == 'v' ? text + 1 : *text ? text : "not available";
}

static void reply_prompt(struct cr_worker *worker, const char *base, size_t length, cr_reply *reply, void *of) {
  cr_autobuf prompt = CR_BUF(PROMPT_MAX);
  yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
  yyjson_mut_val *root = yyjson_mut_obj(doc), *mutations = yyjson_mut_obj(doc);
  yyjson_mut_doc_set_root(doc, root);
  yyjson_mut_obj_add_val(doc, root, "mutations", mutations);
  int fits = !cr_buf_append(&prompt, base, length) && !cr_buf_puts(&prompt, "\n\n") &&
             !cr_buf_printf(&prompt, guidance, version(worker, CR_NODE), version(worker, CR_PYTHON));
  if (worker->config.inject_guidance && length && fits)
    yyjson_mut_obj_add_strn(doc, mutations, "system_prompt", (const char *)prompt.data, prompt.len);
  size_t size;
  cr_autofree char *text = cr_json_mut_text(doc, &size);
  yyjson_mut_doc_free(doc);
  reply(of, text, size, NULL);
}

void cr_function_guidance(struct cr_worker *worker, yyjson_val *payload, cr_reply *reply, void *of) {
  yyjson_val *generate = yyjson_obj_get(payload, "generate");
  yyjson_val *prompt = yyjson_obj_get(generate, "system_prompt");
  struct cr_error err = {0};
  if (!yyjson_is_obj(payload) || (generate && !yyjson_is_obj(generate)) || (prompt && !yyjson_is_str(prompt))) {
    cr_error_set(&err, CR_INVALID_REQUEST, "`generate.system_prompt` must be a string");
    reply(of, NULL, 0, &err);
    cr_error_clear(&err);
    return;
  }
  reply_prompt(worker, prompt ? yyjson_get_str(prompt) : "", yyjson_get_len(prompt), reply, of);
}
