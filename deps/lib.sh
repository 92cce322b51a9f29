# shellcheck shell=bash disable=SC2034
# Shared by the scripts of this folder: say what takes long, keep its output, stop with one sentence.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(dirname "$here")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/code-runner
links=$checkout/build/deps
arch=$(uname -m)

fail() {
  printf 'code-runner setup: %s\n' "$*" >&2
  exit 1
}

# step NAME COMMAND…: runs it with its output in a log, printing the name and a running time.
step() {
  local name=$1 log start pid
  shift
  mkdir -p "$cache/logs"
  log=$(mktemp "$cache/logs/step.XXXXXX")
  start=$SECONDS
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    if [ -t 1 ]; then printf '\r%-58s %4d s' "$name" $((SECONDS - start)); fi
    sleep 0.2
  done
  if wait "$pid"; then
    if [ -t 1 ]; then printf '\r'; fi
    printf '%-58s %4d s\n' "$name" $((SECONDS - start))
    rm -f "$log"
    return 0
  fi
  printf '\n'
  tail -n 25 "$log" >&2
  fail "$name failed; the whole output is in $log"
}

# recipe_hash FILE…: names what the files say, for this architecture.
recipe_hash() { (printf '%s\n' "$arch" && cat "$@") | sha256sum | cut -c1-16; }

# built PART FILE…: runs deps/PART/build.sh TARGET once per content of the files, keeps the result outside the checkout, and
# links build/deps/PART to it. Two runs at a time wait for each other.
built() {
  local part=$1 target work
  shift
  target=$cache/$part-$(recipe_hash "$@")
  mkdir -p "$cache" "$links"
  if [ ! -d "$target" ]; then
    exec 9>"$cache/$part.lock"
    flock 9
    if [ ! -d "$target" ]; then
      work=$(mktemp -d "$cache/$part.XXXXXX")
      (
        trap 'rm -rf "$work"' EXIT
        "$here/$part/build.sh" "$work/result"
        mv -T "$work/result" "$target"
      ) || exit 1
    fi
    exec 9>&-
  fi
  ln -sfn "$target" "$links/$part"
}
