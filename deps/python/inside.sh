# inside.sh PHASE: runs in the Debian 13 root; see build.sh. CPython is configured as a wasm32-wasi target; linking it with our
# own main is the build's business.
set -euo pipefail
sysroot=/b/sysroot
prefix=/b/deps
features="-mbulk-memory -mnontrapping-fptoint -msign-ext -mmutable-globals"
export CC="clang-19 --target=wasm32-wasi --sysroot=$sysroot" CPP="clang-cpp-19 --target=wasm32-wasi --sysroot=$sysroot"
export CXX="clang++-19 --target=wasm32-wasi --sysroot=$sysroot" AR=llvm-ar-19 RANLIB=llvm-ranlib-19 NM=llvm-nm-19 STRIP=llvm-strip-19
export PKG_CONFIG_PATH="" PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig
export SOURCE_DATE_EPOCH=1700000000
flags="-O2 -DNDEBUG -g0 $features"

upstream() {
  rm -rf "$2"
  mkdir "$2"
  tar xf "$(find . -maxdepth 1 -name "$1_*.orig.tar.*z*" ! -name '*.asc' | sort | tail -n1)" -C "$2" --strip-components=1
}

sources() {
  mkdir -p /b/src
  cd /b/src
  chown _apt .
  apt-get update -qq
  for package in python3.13 zlib bzip2 xz-utils sqlite3; do
    apt-get source -qq --download-only "$package" || echo "some files of $package are gone from the archive"
  done
  # Debian's patches (security fixes) belong in CPython; of the libraries upstream's own source is enough.
  rm -rf py
  dpkg-source --no-check -x "$(find . -name 'python3.13_*.dsc' | sort | tail -n1)" py
  for package in zlib bzip2 xz-utils sqlite3; do upstream "$package" "$package"; done
  # A sysroot of its own: with / clang would look into /usr/include, and configure find glibc.
  mkdir -p $sysroot/include $sysroot/lib $prefix/include $prefix/lib/pkgconfig
  cp -a /usr/include/wasm32-wasi $sysroot/include/
  cp -aL /usr/lib/wasm32-wasi $sysroot/lib/
}

describe() {
  printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' "$1" "$1" "$2" $prefix "$3" $prefix >"$prefix/lib/pkgconfig/$1.pc"
}

archive() {
  local library=$1 extra=$2
  shift 2
  printf '%s\n' "$@" | xargs -P2 -I{} sh -c "$CC $flags $extra -c {}.c -o {}.o"
  $AR rcs "$prefix/lib/$library" "${@/%/.o}"
}

libraries() {
  cd /b/src/zlib
  archive libz.a "" adler32 compress crc32 deflate infback inffast inflate inftrees trees uncompr zutil
  cp zlib.h zconf.h $prefix/include
  describe zlib 1.3.1 z
  cd /b/src/bzip2
  archive libbz2.a "" blocksort huffman crctable randtable compress decompress bzlib
  cp bzlib.h $prefix/include
  describe bzip2 1.0.8 bz2
  cd /b/src/xz-utils
  CFLAGS=$flags ./configure --host=wasm32-wasi --prefix=$prefix --disable-shared --enable-static --disable-threads --disable-xz \
    --disable-xzdec --disable-lzmadec --disable-lzmainfo --disable-scripts --disable-doc --disable-nls --disable-sandbox
  make -j2 -C src/liblzma install
  cd /b/src/sqlite3
  (
    unset CPP CXX AR RANLIB NM STRIP
    export CC=gcc
    ./configure
    make sqlite3.c
  )
  archive libsqlite3.a "-D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_GETPID -D_WASI_EMULATED_MMAN -D_WASI_EMULATED_PROCESS_CLOCKS \
    -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_WAL -DSQLITE_MAX_MMAP_SIZE=0 -DSQLITE_OMIT_SHARED_CACHE \
    -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_TEMP_STORE=3" sqlite3
  cp sqlite3.h sqlite3ext.h $prefix/include
  describe sqlite3 3.46.1 sqlite3
}

# clock_nanosleep would sleep until an absolute time of a clock that WASI hosts do not agree on.
configure_python() {
  mkdir -p /b/py
  cd /b/py
  export CONFIG_SITE=/b/src/py/Tools/wasm/config.site-wasm32-wasi CFLAGS="-O2 -flto -g0 $features"
  export ac_cv_func_clock_nanosleep=no ac_cv_lib_rt_clock_nanosleep=no
  export LIBSQLITE3_CFLAGS="-I$prefix/include" LIBSQLITE3_LIBS="-L$prefix/lib -lsqlite3 -lwasi-emulated-mman"
  /b/src/py/configure --host=wasm32-wasi --build="$(gcc -dumpmachine)" --with-build-python=/usr/bin/python3.13 --prefix=/ \
    --exec-prefix=/ --disable-test-modules --with-pymalloc --without-ensurepip --disable-ipv6 --with-system-libmpdec=no \
    --with-system-expat=no --without-readline --with-pkg-config=yes
}

make_python() {
  cd /b/py
  make -j2 libpython3.13.a Modules/_decimal/libmpdec/libmpdec.a Modules/expat/libexpat.a
  make pybuilddir.txt
}

# zoneinfo finds its data as the package `tzdata`.
time_zones() {
  mkdir -p tzdata
  cp -rL /usr/share/zoneinfo tzdata/zoneinfo
  (cd tzdata/zoneinfo && rm -rf posix right posixrules localtime leap-seconds.list leapseconds ./*.list)
  (cd tzdata/zoneinfo && find . -type f ! -name '*.tab' ! -name '*.zi' | sed 's,^\./,,' | sort >../zones)
  find tzdata -type d -exec touch {}/__init__.py \;
}

standard_library() {
  rm -rf /b/lib
  cp -a /b/src/py/Lib /b/lib
  cp "$(cat /b/py/pybuilddir.txt)"/_sysconfigdata*.py /b/lib/ 2>/dev/null || cp /b/py/"$(cat /b/py/pybuilddir.txt)"/_sysconfigdata*.py /b/lib/
  cd /b/lib
  rm -rf test idlelib tkinter turtledemo turtle.py ensurepip curses dbm venv lib2to3 antigravity.py this.py __phello__ \
    site-packages _android_support.py _apple_support.py _ios_support.py _osx_support.py nturl2path.py ctypes multiprocessing
  find . -name __pycache__ -prune -exec rm -rf {} +
  time_zones
  python3.13 -m compileall -q -b -j2 -d /lib --invalidation-mode unchecked-hash .
  find . -type f -name '*.py' -delete
  find . -type f -exec touch -d @1700000000 {} +
  rm -f /b/result/stdlib.zip
  find . -type f \( -name '*.pyc' -o -path './tzdata/*' \) | sed 's,^\./,,' | LC_ALL=C sort | zip -q -X -9 /b/result/stdlib.zip -@
}

collect() {
  mkdir -p /b/result/lib /b/result/include /b/result/builtins
  cd /b/py
  cp libpython3.13.a Modules/_decimal/libmpdec/libmpdec.a Modules/expat/libexpat.a Modules/_hacl/*.a $prefix/lib/*.a /b/result/lib/
  cp -a /b/src/py/Include/. /b/result/include/
  cp pyconfig.h $prefix/include/sqlite3.h /b/result/include/
  cp -a $sysroot /b/result/sysroot
  cp "$(find /usr/lib -name 'libclang_rt.builtins-wasm32.a' | head -n1)" /b/result/builtins/libclang_rt.builtins-wasm32.a
  dpkg-parsechangelog -l /b/src/py/debian/changelog -S Version >/b/result/VERSION
  cp /b/src/py/LICENSE /b/result/
  standard_library
}

case $1 in
  sources) sources ;;
  libraries) libraries ;;
  configure) configure_python ;;
  make) make_python ;;
  collect) collect ;;
esac
