# Everything a person types. CMake and Ninja do the building; deps/setup.sh gets what is built with.
.PHONY: all setup setup-test build asan demo test lint bench fuzz ui clean

# Tests and the cards run with the product's own Node.js, whatever the machine has.
export PATH := $(CURDIR)/build/deps/node/bin:$(PATH)

# $(call cmake,FOLDER,FLAGS): configures once (Ninja does it again by itself) and builds.
define cmake
@[ -f $(1)/build.ninja ] || cmake -S . -B $(1) -G Ninja -DCMAKE_C_COMPILER=clang-19 $(2) >$(1).log 2>&1 || { tail -n 20 $(1).log; exit 1; }
@start=$$(date +%s); NINJA_STATUS='[%f/%t, %e s] ' ninja -C $(1) $$([ -t 1 ] || echo --quiet) && \
  printf '%-70s %4d s\n' 'build, $(1)' $$(($$(date +%s) - start))
endef

all: build

setup:
	@deps/setup.sh

setup-test:
	@deps/setup.sh test

build: setup ui
	$(call cmake,build/cmake,)

# Our C with AddressSanitizer and UndefinedBehaviorSanitizer, in a tree of its own.
asan: setup-test build
	$(call cmake,build/cmake-asan,-DCR_SANITIZE=ON -DCR_OUTPUT=$(CURDIR)/build/asan)

demo: build
	@demo/demo.sh

test: setup-test build asan
	@tests/run

lint: setup-test build
	@lint/run

bench: build
	@bench/run

fuzz: setup-test build
	@tests/fuzz/run 600

# The console cards: ui/dist/page.js and styles.css.
ui: setup
	@cd ui && { [ node_modules/.package-lock.json -nt package-lock.json ] || npm ci --no-audit --no-fund --silent; } && npm run --silent build

clean:
	rm -rf build/cmake build/cmake-asan build/bin build/libexec build/asan
