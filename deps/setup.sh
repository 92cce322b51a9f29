#!/usr/bin/env bash
# setup.sh [test]: installs Debian's packages (with `test`, those of the tests too) and gets or builds the foreign parts, each
# once per machine. Safe to repeat.
. "$(dirname "$0")/lib.sh"

lists=("$here/packages")
if [ "${1:-}" = test ]; then lists+=("$here/packages.test"); fi

missing_packages() {
  local package
  while read -r package; do
    case $package in
      # Any Node.js with npm will do to fetch packages.
      nodejs | npm) command -v npm >/dev/null && continue ;;
    esac
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$package"
  done < <(cat "${lists[@]}")
}

install_packages() {
  local missing
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ]; then
    fail "these Debian packages are missing; install them with: sudo apt-get install -y $missing"
  fi
  step "package lists" apt-get update -qq
  # shellcheck disable=SC2086
  step "Debian packages" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
}

check_rust() {
  local have
  command -v cargo >/dev/null || fail "Rust 1.95 or newer is missing: install it with rustup (https://rustup.rs), or apt-get install rustup && rustup default stable"
  have=$(rustc --version | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')
  if [ "$(printf '%s\n1.95\n' "$have" | sort -V | head -n1)" != 1.95 ]; then
    fail "Rust $have is too old for wasmtime; 1.95 or newer is needed: rustup update stable"
  fi
}

check_space() {
  local free
  mkdir -p "$cache"
  free=$(df -Pk "$cache" | awk 'NR == 2 { print int($4 / 1048576) }')
  [ "$free" -ge 6 ] || fail "$cache has $free GB left; 6 GB are needed"
}

[ -f /etc/debian_version ] || fail "this is written for Debian 12 and 13"
install_packages
cd "$here"
if [ ! -d "$cache/wasmtime-$(recipe_hash wasmtime/build.sh wasmtime/Cargo.toml wasmtime/Cargo.lock wasmtime/src/lib.rs)" ]; then
  check_rust
  check_space
fi
built node node/build.sh node/package.json node/package-lock.json
built yyjson yyjson/build.sh
# The two long ones side by side: each has phases that use one core.
(built wasmtime wasmtime/build.sh wasmtime/Cargo.toml wasmtime/Cargo.lock wasmtime/src/lib.rs) &
wasmtime=$!
built python python/build.sh python/inside.sh
wait "$wasmtime"
