#include "bus/sha1.h"

#include <string.h>

static uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

static void block(uint32_t h[5], const uint8_t *bytes) {
  uint32_t w[80];
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 | (uint32_t)bytes[4 * i + 2] << 8 |
           bytes[4 * i + 3];
  for (int i = 16; i < 80; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 80; i++) {
    uint32_t f, k;
    if (i < 20)
      f = (b & c) | (~b & d), k = 0x5a827999;
    else if (i < 40)
      f = b ^ c ^ d, k = 0x6ed9eba1;
    else if (i < 60)
      f = (b & c) | (b & d) | (c & d), k = 0x8f1bbcdc;
    else
      f = b ^ c ^ d, k = 0xca62c1d6;
    uint32_t next = rotate(a, 5) + f + e + k + w[i];
    e = d, d = c, c = rotate(b, 30), b = a, a = next;
  }
  h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void cr_sha1(const void *bytes, size_t length, uint8_t digest[CR_SHA1_SIZE]) {
  uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const uint8_t *at = bytes;
  size_t left = length;
  for (; left >= 64; left -= 64, at += 64) block(h, at);
  uint8_t tail[128] = {0};
  if (left) memcpy(tail, at, left);
  tail[left] = 0x80;
  size_t size = left < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) tail[size - 1 - (size_t)i] = (uint8_t)((uint64_t)length * 8 >> (8 * i));
  block(h, tail);
  if (size == 128) block(h, tail + 64);
  for (int i = 0; i < CR_SHA1_SIZE; i++) digest[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}

void cr_base64(const void *bytes, size_t length, char *text) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const uint8_t *at = bytes;
  for (size_t i = 0; i < length; i += 3) {
    uint32_t group = (uint32_t)at[i] << 16;
    if (i + 1 < length) group |= (uint32_t)at[i + 1] << 8;
    if (i + 2 < length) group |= at[i + 2];
    *text++ = digits[group >> 18];
    *text++ = digits[group >> 12 & 63];
    *text++ = i + 1 < length ? digits[group >> 6 & 63] : '=';
    *text++ = i + 2 < length ? digits[group & 63] : '=';
  }
  *text = 0;
}
