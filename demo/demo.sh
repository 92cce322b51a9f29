#!/usr/bin/env bash
# Shows what code-runner does: both languages, a kept runtime, a failing script, a limit.
set -euo pipefail
cd "$(dirname "$0")/.."
runner=build/bin/code-runner
export CODE_RUNNER_LOG=error

title() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() {
  printf '$ code-runner'
  printf ' %q' "$@"
  printf '\n'
  local status=0
  "$runner" "$@" || status=$?
  if [ "$status" != 0 ]; then printf '(exit status %d)\n' "$status"; fi
}

title "JavaScript: Node.js, in a sealed fork"
show run --lang node 'console.log("hello from node", process.version, "cwd", process.cwd()); return [1, 2, 3].map(n => n * n)'

title "Python: CPython as WebAssembly, in a sealed fork"
show run --lang python 'import sys
print("hello from python", sys.version.split()[0], "on", sys.platform)
result = {"big": 2**100, "squares": [n * n for n in range(4)]}'

title "A failing script is an answer, with the caller's line numbers"
show run --lang python 'x = 1
print(x / 0)'

title "A limit is an error: 300 ms for an endless loop"
show run --lang node --timeout-ms 300 'for (;;);'

title "Nothing of the host is there"
show run --lang node 'return require("fs").readdirSync("/").concat(Object.keys(process.env))'

title "A kept runtime: globals and files stay between runs (serve --stdio, one JSON line each)"
coproc worker { exec "$runner" serve --stdio; }
ask() {
  printf '> %s\n' "$1"
  printf '%s\n' "$1" >&"${worker[1]}"
  IFS= read -r answer <&"${worker[0]}"
  printf '< %s\n' "$answer"
}
ask '{"id":1,"function_id":"code-runner::run","payload":{"lang":"python","keep":true,"code":"n = 41\nopen(\"note\", \"w\").write(\"kept\")"}}'
id=$(printf '%s' "$answer" | grep -oE 'rt-[0-9a-f-]{36}')
ask "{\"id\":2,\"function_id\":\"code-runner::run\",\"payload\":{\"runtime_id\":\"$id\",\"code\":\"result = [n + 1, open('note').read()]\"}}"
ask "{\"id\":3,\"function_id\":\"code-runner::teardown\",\"payload\":{\"runtime_id\":\"$id\"}}"
# shellcheck disable=SC2154
pid=$worker_PID
eval "exec ${worker[1]}>&-"
wait "$pid"

title "What works on this machine"
show doctor
