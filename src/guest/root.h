// The files a zygote and its runtimes see: an empty root for the zygote, a small private one for each runtime.
#pragma once
#include <stdint.h>

// In a mount namespace of its own: replaces the root by an empty, read-only tmpfs (pivot_root(2)). 0 or -1 (errno).
int cr_root_empty(void);

// A fresh tmpfs of `bytes` and `inodes`, mounted nowhere, with the directory `work` owned by `uid` (fsmount(2)). It
// goes with its last descriptor. Returns a directory descriptor, or -1 (errno).
int cr_root_scratch(uint64_t bytes, uint64_t inodes, uint32_t uid);

// Makes the directory `root` the calling process's root and its `work` the current directory. 0 or -1 (errno).
int cr_root_enter(int root);
