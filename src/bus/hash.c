#include "bus/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct sip {
  uint64_t v[4];
};

static uint64_t rotate(uint64_t x, int by) { return x << by | x >> (64 - by); }

static void sip_round(struct sip *s) {
  s->v[0] += s->v[1];
  s->v[2] += s->v[3];
  s->v[1] = rotate(s->v[1], 13) ^ s->v[0];
  s->v[3] = rotate(s->v[3], 16) ^ s->v[2];
  s->v[0] = rotate(s->v[0], 32);
  s->v[2] += s->v[1];
  s->v[0] += s->v[3];
  s->v[1] = rotate(s->v[1], 17) ^ s->v[2];
  s->v[3] = rotate(s->v[3], 21) ^ s->v[0];
  s->v[2] = rotate(s->v[2], 32);
}

static void sip_word(struct sip *s, uint64_t word) {
  s->v[3] ^= word;
  sip_round(s);
  s->v[0] ^= word;
}

static const uint64_t *process_key(void) {
  static uint64_t key[2];
  static int drawn;
  if (drawn) return key;
  while (getrandom(key, sizeof key, 0) != sizeof key)
    if (errno != EINTR) abort();
  drawn = 1;
  return key;
}

uint32_t cr_hash(const void *bytes, size_t length) {
  const uint64_t *key = process_key();
  struct sip s = {{key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du, key[0] ^ 0x6c7967656e657261u,
                   key[1] ^ 0x7465646279746573u}};
  const uint8_t *at = bytes;
  uint64_t word;
  for (size_t left = length; left >= 8; left -= 8, at += 8) {
    memcpy(&word, at, 8);
    sip_word(&s, word);
  }
  word = 0;
  if (length % 8) memcpy(&word, at, length % 8);
  sip_word(&s, word | (uint64_t)length << 56);
  s.v[2] ^= 0xff;
  for (int i = 0; i < 3; i++) sip_round(&s);
  uint64_t hash = s.v[0] ^ s.v[1] ^ s.v[2] ^ s.v[3];
  return (uint32_t)(hash ^ hash >> 32);
}
