#include "worker/tombstones.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void cr_tombstones_add(struct cr_tombstones *tombstones, const char *id) {
  struct cr_tombstone *stone = cr_alloc(sizeof *stone);
  memcpy(stone->id, id, strnlen(id, sizeof stone->id - 1));
  HASH_ADD_STR(tombstones->set, id, stone);
  if (HASH_COUNT(tombstones->set) <= CR_TOMBSTONES) return;
  struct cr_tombstone *oldest = tombstones->set;  // uthash keeps the order of insertion
  HASH_DEL(tombstones->set, oldest);
  free(oldest);
}

int cr_tombstones_has(const struct cr_tombstones *tombstones, const char *id) {
  struct cr_tombstone *found;
  HASH_FIND_STR(tombstones->set, id, found);
  return found != NULL;
}

void cr_tombstones_free(struct cr_tombstones *tombstones) {
  struct cr_tombstone *stone, *next;
  HASH_ITER(hh, tombstones->set, stone, next) {
    HASH_DEL(tombstones->set, stone);
    free(stone);
  }
}
