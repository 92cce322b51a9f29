#!/usr/bin/env bash
# build.sh TARGET: wasmtime's C API as static libraries: lib/libwasmtime.a runs compiled modules, lib/libwasmtime-compiler.a
# compiles them too (for the build tool only). Include with CR_WASMTIME_COMPILER defined for the latter.
. "$(dirname "$0")/../lib.sh"
target=$1
work=$(mktemp -d "$(dirname "$target")/cargo.XXXXXX")
cp -r "$here/wasmtime/Cargo.toml" "$here/wasmtime/Cargo.lock" "$here/wasmtime/src" "$work"
cd "$work"
export CARGO_TARGET_DIR=$work/target
step "wasmtime sources" cargo fetch --locked
mkdir -p "$target/lib" "$target/include"
step "wasmtime, runtime" cargo build --release --locked --offline
cp target/release/libcode_runner_wasmtime.a "$target/lib/libwasmtime.a"
step "wasmtime, compiler" cargo build --release --locked --offline --features compiler
cp target/release/libcode_runner_wasmtime.a "$target/lib/libwasmtime-compiler.a"
headers=$(cargo metadata --locked --offline --format-version 1 | tr ',' '\n' |
  sed -n 's/^"manifest_path":"\(.*\/wasmtime-c-api-impl-[^/]*\)\/Cargo.toml"$/\1/p' | head -n1)/include
[ -f "$headers/wasmtime.h" ] || fail "the crate wasmtime-c-api-impl has no headers where they were expected"
cp -r "$headers/." "$target/include/"
find "$target/include" -name "*.hh" -delete
cat >"$target/include/wasmtime/conf.h" <<'CONF'
#ifndef WASMTIME_CONF_H
#define WASMTIME_CONF_H
#ifdef CR_WASMTIME_COMPILER
#define WASMTIME_FEATURE_CRANELIFT
#define WASMTIME_FEATURE_PARALLEL_COMPILATION
#define WASMTIME_FEATURE_COMPILER
#endif
#endif
CONF
