#!/usr/bin/env bash
# build.sh TARGET: CPython for WebAssembly as libraries, from the sources of Debian 13: lib/*.a, include/, sysroot/ (wasi-libc),
# builtins/, stdlib.zip, VERSION. Built in a root of Debian 13 that is made for it and thrown away.
. "$(dirname "$0")/../lib.sh"
. "$here/debian.sh"
target=$1
[ "$(id -u)" = 0 ] || fail "building the interpreter needs root (it makes a Debian 13 root with mmdebstrap); run make setup once as root"
work=$(mktemp -d "$(dirname "$target")/root.XXXXXX")
root=$work/root
mirror=$(debian_mirror)
packages=clang-19,lld-19,llvm-19,wasi-libc,libclang-rt-19-dev-wasm32,python3.13,make,pkg-config,xz-utils,zip,dpkg-dev,patch
step "Debian 13 root for the interpreter" mmdebstrap --variant=minbase --include="$packages,gcc,libc6-dev,tcl,tzdata,tzdata-legacy" trixie "$root" "$mirror"
if [ -s /etc/resolv.conf ]; then cp -L /etc/resolv.conf "$root/etc/resolv.conf"; fi
printf 'deb-src %s trixie main\n' "$mirror" >"$root/etc/apt/sources.list.d/src.list"
[ -e "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
mkdir -p "$root/b"
cp "$here/python/inside.sh" "$root/b/"
for phase in sources libraries configure make collect; do
  step "CPython for WebAssembly: $phase" chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/b LC_ALL=C.UTF-8 bash /b/inside.sh "$phase"
done
mv "$root/b/result" "$target"
