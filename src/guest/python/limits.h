// Memory of a python runtime: the worker's budget (SPAWN.data_bytes) is the wasm memory's cap and this on top.
#pragma once

#define CR_PYTHON_HEADROOM (32ull << 20)
#define CR_PYTHON_MEMORY_MIN_MB 40u
#define CR_PYTHON_MEMORY_DEFAULT_MB 128u
#define CR_PYTHON_MEMORY_MAX_MB 512u
// No file is larger, sparse or not (RLIMIT_FSIZE): the quota of the whole directory.
#define CR_PYTHON_FILE_MAX (256ull << 20)
