# Everything a person types. CMake and Ninja do the building; deps/setup.sh gets what is built with.
.PHONY: all setup build demo test lint bench fuzz ui asan clean

CMAKE_FLAGS = -G Ninja -DCMAKE_C_COMPILER=clang-19

all: build

setup:
	@deps/setup.sh

# The console cards: ui/dist/page.js and styles.css.
ui: setup
	@cd ui && { [ -d node_modules ] || npm ci --no-audit --no-fund --silent; } && npm run --silent build

build: ui
	@[ -f build/cmake/build.ninja ] || cmake -S . -B build/cmake $(CMAKE_FLAGS) >build/cmake.log 2>&1 || { tail -n 20 build/cmake.log; exit 1; }
	@ninja -C build/cmake --quiet

# Our C with AddressSanitizer and UndefinedBehaviorSanitizer, in a tree of its own.
asan: build
	@[ -f build/cmake-asan/build.ninja ] || cmake -S . -B build/cmake-asan $(CMAKE_FLAGS) -DCR_SANITIZE=ON -DCR_OUTPUT=$(CURDIR)/build/asan >build/cmake-asan.log 2>&1 || { tail -n 20 build/cmake-asan.log; exit 1; }
	@ninja -C build/cmake-asan --quiet

demo: build
	@demo/demo.sh

test: build asan
	@tests/run

lint: build
	@lint/run

bench: build
	@bench/run

fuzz: build
	@tests/fuzz/run 600

clean:
	rm -rf build/cmake build/cmake-asan build/bin build/libexec build/asan
