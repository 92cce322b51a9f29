/*
 * Messages as the console hands them to a renderer: every operation in every state, in the chat's form and in the
 * trace view's, with runtime ids wherever one can turn up.
 */
export const A = "rt-7c1d04be-52aa-4f3e-8b60-9e2f71c8d5a4";
export const B = "rt-0f9e8d7c-6b5a-4c3d-9e1f-a0b1c2d3e4f5";
const UPPER = B.toUpperCase();
const GLUED = `x${A}_log`;
const CUT = A.slice(0, 30);

export const masked = (id) => `${id.slice(0, 7)}…`;

/** Lower-case texts of which none may be found anywhere: an id past its mask, and the secret rest of it. */
export const NEEDLES = [A, B].flatMap((id) => [id.slice(0, 12), id.slice(7, 29)]);

export const RUN = "code-runner::run";
export const REGISTER = "code-runner::register_function";
export const TEARDOWN = "code-runner::teardown";

export const lines = (count, text = "line") => Array.from({ length: count }, (_, i) => `${text} ${i + 1}`).join("\n") + "\n";

export const answer = (extra) => ({ stdout: "", stderr: "", exit_code: 0, success: true, duration_ms: 12, result: null, ...extra });

export const OMITTED_ARRAY =
  "<omitted: result was ~575 KB (100000 array elements); returning it whole would flood the model context — print a slice, aggregate in code, or write it to iii.files and return a summary>";
export const OMITTED_TEXT = OMITTED_ARRAY.replace("~575 KB (100000 array elements)", "~39 KB (a 40000-char string)");
export const TRUNCATED = "[…stdout truncated: was ~512 KB; middle omitted]";

let serial = 0;

export function message(functionId, input, extra = {}) {
  return { id: `call-${++serial}`, role: "function-trigger", functionId, input, createdAt: 1_750_000_000_000, ...extra };
}

export const inChat = (details) => ({ content: [{ type: "text", text: JSON.stringify(details) }], details });

export const failed = {
  chat: (text, details = {}) => ({
    error: { kind: "function_error", message: text.replace(/\s+/g, " "), details, content: [{ type: "text", text }] },
  }),
  trace: (text) => ({ error: `handler error: ${text}` }),
};

export const denied = (args) =>
  failed.chat(`denied by the operator: ${args}`, {
    status: "denied",
    denied_by: "operator",
    reason: `Not on a Friday, and not with ${A}.`,
    args_excerpt: args,
  });

function nested(depth) {
  let value = A;
  for (let i = 0; i < depth; i++) value = i % 2 ? [value] : { [`in ${i}`]: value };
  return value;
}

const ids = `ids: ${A} ${UPPER} ${GLUED} ${CUT}`;

function settled(name, op, input, output) {
  return [
    { name, op, state: "settled", message: message(op, input, { output: inChat(output) }) },
    { name, op, state: "settled", form: "trace", message: message(op, { ...input, _caller_worker_id: "w-1" }, { output }) },
  ];
}

function error(name, op, input, text) {
  return [
    { name, op, state: "error", message: message(op, input, { output: failed.chat(text) }) },
    { name, op, state: "error", form: "trace", message: message(op, input, { output: failed.trace(text) }) },
  ];
}

const running = (name, op, input) => ({ name, op, state: "running", message: message(op, input, { running: true }) });
const pending = (name, op, input) => ({ name, op, state: "pending", message: message(op, input, { pendingApproval: true }) });
const denial = (name, op, input) => ({ name, op, state: "denied", message: message(op, input, { output: denied(JSON.stringify(input)) }) });

const NODE = `// Sum the open invoices of one customer.
const { rows } = await iii.trigger({
  function_id: "ledger::query",
  payload: { customer: "acme", state: "open" },
});
console.log(\`\${rows.length} open invoices\`);
return { total: rows.reduce((sum, row) => sum + row.amount, 0), currency: "EUR" };`;

const PYTHON = `import statistics

samples = [12.1, 11.8, 12.4, 30.2]
print("n =", len(samples))
result = {"mean": statistics.mean(samples), "stdev": statistics.stdev(samples)}`;

const HANDLER = `export async function handler(payload) {
  const { price, rate } = payload;
  return { gross: Math.round(price * (1 + rate) * 100) / 100 };
}`;

const TRACEBACK = `Traceback (most recent call last):
  File "<code>", line 4, in <module>
    total = sum(row["amount"] for row in rows)
KeyError: 'amount'
`;

export const fixtures = [
  ...settled("run-one-shot", RUN, { code: NODE, lang: "node" }, answer({ result: { total: 1824.5, currency: "EUR" }, stdout: "3 open invoices\n" })),
  ...settled("run-number", RUN, { code: "return 2 + 2", lang: "node" }, answer({ result: 4 })),
  ...settled("run-kept", RUN, { code: PYTHON, lang: "python", keep: true, timeout_ms: 800 }, answer({ runtime_id: B, result: { mean: 16.625, stdev: 9.05 }, stdout: "n = 4\n", duration_ms: 31 })),
  ...settled("run-reused", RUN, { code: `result = "${A}"`, runtime_id: A }, answer({ runtime_id: A, result: A })),
  ...settled("run-failed", RUN, { code: PYTHON, lang: "python" }, answer({ exit_code: 1, success: false, stderr: TRACEBACK, stdout: "reading rows\n" })),
  ...settled("run-null", RUN, { code: "1 + 1", lang: "node" }, answer({})),
  ...settled("run-null-python", RUN, { code: "1 + 1", lang: "python" }, answer({})),
  ...settled("run-null-reused", RUN, { code: "1 + 1", runtime_id: A }, answer({ runtime_id: A })),
  ...settled("run-no-result", RUN, { code: "1", lang: "node" }, { stdout: "", stderr: "", exit_code: 0, success: true }),
  ...settled("run-no-exit", RUN, { code: "1", lang: "node" }, { stdout: 7, stderr: [], result: 1 }),
  ...settled("run-contradiction", RUN, { code: "return 1", lang: "node" }, answer({ success: false, result: 1 })),
  ...settled("run-omitted-array", RUN, { code: "return a", lang: "node" }, answer({ result: OMITTED_ARRAY })),
  ...settled("run-omitted-text", RUN, { code: "result = t", lang: "python" }, answer({ result: OMITTED_TEXT })),
  ...settled("run-long", RUN, { code: lines(60, "log").replaceAll("log ", "console.log("), lang: "node" }, answer({ stdout: lines(500), result: Array.from({ length: 300 }, (_, i) => ({ row: i, label: `item ${i}` })) })),
  ...settled("run-truncated", RUN, { code: "print(1)", lang: "python" }, answer({ stdout: `${lines(200)}${TRUNCATED}\n${lines(20, "tail")}`, result: 1 })),
  ...settled("run-program", RUN, { code: lines(5000, "// row"), lang: "node" }, answer({ result: true })),
  ...settled("run-wide", RUN, { code: `const s = "${"x".repeat(400_000)}"`, lang: "node" }, answer({ stdout: "y".repeat(400_000), result: "z".repeat(5000) })),
  ...settled("run-nested", RUN, { code: "return deep", lang: "node" }, answer({ result: nested(2000) })),
  ...settled("run-odd-text", RUN, { code: "<script>alert(1)</script>\n// \u202eesrever\u202c", lang: "node" }, answer({
    stdout: "<script>document.title = 'owned'</script>\n\u05d0\u05d1\u05d2 \u202eabc\u202c\n\u001b[31mred\u001b[0m \u001b]8;;https://example.com\u0007link\u001b]8;;\u0007 \u0007\u0000end\r\nnext\rlast",
    result: "<img src=x onerror=alert(1)>",
  })),
  ...settled("run-ids", RUN, { code: `use("${A}")\n// ${ids}`, lang: "node", runtime_id: A, keep: false, [A]: A }, answer({
    runtime_id: A, stdout: `${ids}\n\u001b[1m${A.slice(0, 9)}\u001b[0m${A.slice(9)}\n`, stderr: ids, result: { [A]: ids, [B]: [ids, { [UPPER]: GLUED }] },
  })),
  ...settled("run-no-code", RUN, { lang: "node" }, answer({ result: 1 })),
  ...settled("run-blank-code", RUN, { code: " \n ", lang: "python", timeout_ms: "soon" }, answer({ result: false })),
  running("run-running", RUN, { code: NODE, lang: "node", keep: true, timeout_ms: 30000 }),
  running("run-running-reused", RUN, { code: `// ${ids}`, runtime_id: A }),
  running("run-streaming", RUN, { _streaming: `{"code":"${A}` }),
  pending("run-pending", RUN, { code: NODE, lang: "node", keep: true }),
  pending("run-excerpt", RUN, { code: `${lines(24, "step();").slice(0, 256)}…`, lang: "node", runtime_id: A }),
  ...error("run-expired", RUN, { code: `// ${ids}\nreturn 1`, runtime_id: A }, `code-runner::expired: runtime ID expired: ${A}; call code-runner::run again without it, the new scratch directory starts empty`),
  ...error("run-timeout", RUN, { code: "while (true);", lang: "node", timeout_ms: 500 }, "code-runner::timeout: execution exceeded its deadline of 500 ms"),
  ...error("run-capacity", RUN, { code: "return 1", lang: "node", keep: true }, "code-runner::capacity: all 32 runtime slots are in use"),
  ...error("run-uncoded", RUN, { code: "return 1", lang: "node" }, `the socket went away near ${UPPER}`),
  denial("run-denied", RUN, { code: `// ${A}`, runtime_id: A }),

  ...settled("register-node", REGISTER, { function_id: "shop::price", source: HANDLER, lang: "node", description: "Gross price of an article at a given tax rate.", request_format: { type: "object" } }, { function_id: "shop::price", registered: true }),
  ...settled("register-advice-python", REGISTER, { function_id: "shop::stock", source: "def main(payload):\n    return payload", lang: "python", description: "Stock." }, { function_id: "shop::stock", registered: true }),
  ...settled("register-advice-node", REGISTER, { function_id: "shop::stock", source: "(p) => p.n", lang: "node", description: "Stock." }, { function_id: "shop::stock", registered: true }),
  ...settled("register-refused", REGISTER, { function_id: "price", source: HANDLER, lang: "node" }, { function_id: "price", registered: false }),
  ...settled("register-odd", REGISTER, { function_id: 7, source: [], description: {}, lang: "ruby" }, { function_id: "a::b" }),
  ...settled("register-guess", REGISTER, { function_id: "a::b", source: "async def handler(p):\n    return p", description: "Guessed." }, { function_id: "a::c", registered: true }),
  ...settled("register-empty", REGISTER, {}, {}),
  ...settled("register-ids", REGISTER, { function_id: `${A}::go`, source: `// handler ${ids}`, description: ids, lang: "node", response_format: { title: A } }, { function_id: `${UPPER}::go`, registered: true }),
  running("register-running", REGISTER, { function_id: "shop::price", source: HANDLER, lang: "node", description: "Gross price." }),
  pending("register-pending", REGISTER, { function_id: "shop::price", source: HANDLER, lang: "node", description: "Gross price." }),
  pending("register-excerpt", REGISTER, { function_id: "shop::price", source: "def main(payload):\n    x…", lang: "python", description: `${"word ".repeat(51)}…` }),
  ...error("register-taken", REGISTER, { function_id: "shop::price", source: HANDLER, lang: "node", runtime_id: A }, "code-runner::invalid_request: shop::price is already taken"),
  denial("register-denied", REGISTER, { function_id: "shop::price", source: `// ${A}` }),

  ...settled("teardown-runtime", TEARDOWN, { runtime_id: A }, { torn_down: true, unregistered: [`code-runner::${A}::one`, "shop::two"], runtime_id: A }),
  ...settled("teardown-none", TEARDOWN, { runtime_id: B }, { torn_down: true, unregistered: [], runtime_id: B }),
  ...settled("teardown-unlisted", TEARDOWN, { runtime_id: A }, { torn_down: true, runtime_id: A }),
  ...settled("teardown-namespace", TEARDOWN, { namespace: "shop" }, { torn_down: true, unregistered: Array.from({ length: 40 }, (_, i) => `shop::fn_${i + 1}`), namespace: "shop::" }),
  ...settled("teardown-odd", TEARDOWN, { runtime_id: A }, { torn_down: false, unregistered: ["shop::a", 7, "shop::a", null] }),
  ...settled("teardown-unconfirmed", TEARDOWN, "{\"runtime_id\":", { unregistered: [] }),
  ...settled("teardown-ids", TEARDOWN, { namespace: GLUED }, { torn_down: true, unregistered: [GLUED, UPPER, CUT], namespace: `${GLUED}::` }),
  running("teardown-running", TEARDOWN, { runtime_id: A }),
  running("teardown-running-blind", TEARDOWN, null),
  pending("teardown-pending", TEARDOWN, { runtime_id: A }),
  pending("teardown-pending-namespace", TEARDOWN, { namespace: "shop" }),
  ...error("teardown-unknown", TEARDOWN, { runtime_id: A }, `code-runner::runtime_not_found: unknown runtime_id ${A}`),
  denial("teardown-denied", TEARDOWN, { runtime_id: A }),
];

export const fixture = (name, form) => fixtures.find((each) => each.name === name && each.form === form).message;

/** Random JSON, from a seed, that leans towards the member names a card reads. */
export function randomJson(seed) {
  let state = seed >>> 0 || 1;
  const next = (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
  const names = [
    "code", "lang", "runtime_id", "keep", "timeout_ms", "function_id", "source", "description", "namespace", "result",
    "stdout", "stderr", "exit_code", "success", "duration_ms", "registered", "torn_down", "unregistered", "error",
    "message", "details", "content", "status", "denied_by", "reason", "_streaming", "__proto__", "constructor", "",
  ];
  const texts = ["", "…", "node", "python", A, CUT, "denied", "code-runner::timeout: x", "a::b", OMITTED_TEXT, TRUNCATED, "\ud800", "def f", "x".repeat(3000)];
  const value = (depth) => {
    const kind = next(depth > 4 ? 6 : 9);
    if (kind === 0) return null;
    if (kind === 1) return next(2) === 0;
    if (kind === 2) return [0, -1, 1.5, 1e300, 7][next(5)];
    if (kind < 6) return texts[next(texts.length)];
    if (kind === 6) return Array.from({ length: next(5) }, () => value(depth + 1));
    return Object.fromEntries(Array.from({ length: next(7) }, () => [names[next(names.length)], value(depth + 1)]));
  };
  return value(0);
}
