#!/usr/bin/env bash
# build.sh TARGET: yyjson, include/yyjson.h and src/yyjson.c, from the source package of Debian 13 (Debian 12 has none). The
# package lists are private to this step.
. "$(dirname "$0")/../lib.sh"
. "$here/debian.sh"
target=$1
work=$(mktemp -d "$(dirname "$target")/apt.XXXXXX")
step "yyjson" debian_source trixie yyjson "$work"
mkdir -p "$work/source" "$target/include" "$target/src"
tar xf "$work"/yyjson_*.orig.tar.* -C "$work/source" --strip-components=1
cp "$work/source/src/yyjson.h" "$target/include/"
cp "$work/source/src/yyjson.c" "$target/src/"
cp "$work/source/LICENSE" "$target/"
