// Ids of runtimes that ended by themselves: they answer `expired` (contract 12.3). The oldest are forgotten.
#pragma once
#include <uthash.h>

#define CR_TOMBSTONES 4096
#define CR_RUNTIME_ID_SIZE 40  // "rt-" and a UUID

struct cr_tombstone {
  char id[CR_RUNTIME_ID_SIZE];
  UT_hash_handle hh;
};

struct cr_tombstones {
  struct cr_tombstone *set;
};

void cr_tombstones_add(struct cr_tombstones *tombstones, const char *id);
int cr_tombstones_has(const struct cr_tombstones *tombstones, const char *id);
void cr_tombstones_free(struct cr_tombstones *tombstones);
