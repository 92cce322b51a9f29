#!/bin/bash
# node-test.sh FILE…: runs node:test files with the product's own Node.js (or the machine's, where that is not built yet)
# and prints as its last line `N passed, N failed`. What failed is shown, passes are only counted.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
node=$root/build/deps/node/bin/node
[ -x "$node" ] || node=node
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$node" --test --test-reporter=tap --test-concurrency=1 "$@" >"$log" 2>&1
status=$?
# Lines that tests print for people, and every failed test with its reason.
grep -E '^ *# *\\#' "$log" | sed -E 's|^ *# *\\# ?|  |'
awk '/^ *not ok / { failing = 1 } failing { print } /^ *\.\.\.$/ { failing = 0 }' "$log" | cut -c1-600 | head -n "${MAX_LINES:-400}"
number() { sed -n "s/^# $1 //p" "$log" | tail -n 1; }
passed=$(number pass) failed=$(number fail) cancelled=$(number cancelled)
failed=$((${failed:-0} + ${cancelled:-0}))
# The runner itself ended badly: no test said so.
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
  tail -n 20 "$log"
  failed=1
fi
[ "${passed:-0}" -gt 0 ] || [ "$failed" -gt 0 ] || failed=1
echo "${passed:-0} passed, $failed failed"
[ "$failed" -eq 0 ]
