#include "guest/python/bake/module.h"

#include <string.h>

enum section { CUSTOM = 0, START = 8, MEMORY = 5, GLOBAL = 6, EXPORT = 7, DATA = 11, DATA_COUNT = 12 };

#define MAGIC_LENGTH 8
#define PAGE 65536
#define OP_I32_CONST 0x41
#define OP_END 0x0b

// Reading: past the end, or on bytes that make no sense, `bad` is set and zeros are read.
struct cursor {
  const uint8_t *at;
  const uint8_t *end;
  int bad;
};

static uint8_t byte(struct cursor *in) {
  if (in->at < in->end) return *in->at++;
  in->bad = 1;
  return 0;
}

static uint32_t number(struct cursor *in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 35; shift += 7) {
    uint8_t next = byte(in);
    value |= (uint64_t)(next & 0x7f) << shift;
    if (!(next & 0x80)) return (uint32_t)value;
  }
  in->bad = 1;
  return 0;
}

static struct cursor part(struct cursor *in, uint32_t length) {
  if (length > (size_t)(in->end - in->at)) {
    in->bad = 1;
    length = 0;
  }
  struct cursor piece = {.at = in->at, .end = in->at + length};
  in->at += length;
  return piece;
}

// Writing: the output's maximum is the only failure, and shows in `failed`.
struct writer {
  struct cr_buf *out;
  int failed;
};

static void put(struct writer *to, const void *bytes, size_t length) {
  if (cr_buf_append(to->out, bytes, length)) to->failed = 1;
}

static void put_byte(struct writer *to, uint8_t value) { put(to, &value, 1); }

static void put_number(struct writer *to, uint32_t value) {
  while (value >= 0x80) {
    put_byte(to, (uint8_t)(value | 0x80));
    value >>= 7;
  }
  put_byte(to, (uint8_t)value);
}

static void put_signed(struct writer *to, int32_t value) {
  for (;;) {
    uint8_t low = value & 0x7f;
    value >>= 7;
    if ((value == 0 && !(low & 0x40)) || (value == -1 && (low & 0x40))) {
      put_byte(to, low);
      return;
    }
    put_byte(to, low | 0x80);
  }
}

static void put_section(struct writer *to, uint8_t id, const struct cr_buf *body) {
  put_byte(to, id);
  put_number(to, (uint32_t)body->len);
  put(to, body->data, body->len);
}

static void memory_section(struct cursor *in, struct writer *to, const struct cr_snapshot *snapshot) {
  if (number(in) != 1) in->bad = 1;
  uint8_t limits = byte(in);
  (void)number(in);
  put_number(to, 1);
  put_byte(to, limits & 1);
  put_number(to, (uint32_t)(snapshot->length / PAGE));
  if (limits & 1) put_number(to, number(in));
}

static void global_section(struct cursor *in, struct writer *to, const struct cr_snapshot *snapshot) {
  uint32_t count = number(in), mutables = 0;
  put_number(to, count);
  for (uint32_t i = 0; i < count && !in->bad; i++) {
    const uint8_t *start = in->at;
    uint8_t type = byte(in), is_mutable = byte(in);
    if (byte(in) != OP_I32_CONST) in->bad = 1;
    (void)number(in);
    if (byte(in) != OP_END) in->bad = 1;
    if (!is_mutable) {
      put(to, start, (size_t)(in->at - start));
      continue;
    }
    mutables++;
    put_byte(to, type);
    put_byte(to, is_mutable);
    put_byte(to, OP_I32_CONST);
    put_signed(to, (int32_t)snapshot->stack_pointer);
    put_byte(to, OP_END);
  }
  if (mutables != 1) in->bad = 1;
}

static int is_dropped(struct cursor name, const char *const *dropped) {
  size_t length = (size_t)(name.end - name.at);
  for (; *dropped; dropped++)
    if (strlen(*dropped) == length && !memcmp(*dropped, name.at, length)) return 1;
  return 0;
}

static void export_section(struct cursor *in, struct writer *to, const char *const *dropped) {
  cr_autobuf kept = CR_BUF(1u << 20);
  struct writer list = {.out = &kept};
  uint32_t count = number(in), left = 0;
  for (uint32_t i = 0; i < count && !in->bad; i++) {
    const uint8_t *start = in->at;
    struct cursor name = part(in, number(in));
    (void)byte(in);
    (void)number(in);
    if (is_dropped(name, dropped)) continue;
    put(&list, start, (size_t)(in->at - start));
    left++;
  }
  put_number(to, left);
  put(to, kept.data, kept.len);
  to->failed |= list.failed;
}

// One segment from the first byte that is not zero to the last. What is below the stack pointer is dead.
static void data_section(struct writer *to, const struct cr_snapshot *snapshot) {
  size_t first = snapshot->stack_pointer, last = snapshot->length;
  while (first < last && !snapshot->memory[first]) first++;
  while (last > first && !snapshot->memory[last - 1]) last--;
  put_number(to, 1);
  put_number(to, 0);
  put_byte(to, OP_I32_CONST);
  put_signed(to, (int32_t)first);
  put_byte(to, OP_END);
  put_number(to, (uint32_t)(last - first));
  put(to, snapshot->memory + first, last - first);
}

static void section(uint8_t id, struct cursor *body, const struct cr_snapshot *snapshot, const char *const *dropped,
                    struct writer *to) {
  cr_autobuf made = CR_BUF(to->out->max);
  struct writer inner = {.out = &made};
  switch (id) {
    case CUSTOM: return;
    case START: body->bad = 1; return;
    case MEMORY: memory_section(body, &inner, snapshot); break;
    case GLOBAL: global_section(body, &inner, snapshot); break;
    case EXPORT: export_section(body, &inner, dropped); break;
    case DATA: data_section(&inner, snapshot); break;
    case DATA_COUNT: put_number(&inner, 1); break;
    default: put(&inner, body->at, (size_t)(body->end - body->at));
  }
  put_section(to, id, &made);
  to->failed |= inner.failed;
}

int cr_module_bake(const uint8_t *module, size_t length, const struct cr_snapshot *snapshot, const char *const *dropped,
                   struct cr_buf *out, struct cr_error *err) {
  static const uint8_t magic[MAGIC_LENGTH] = {0, 'a', 's', 'm', 1};
  struct cursor in = {.at = module, .end = module + length};
  struct writer to = {.out = out};
  if (length < MAGIC_LENGTH || memcmp(module, magic, MAGIC_LENGTH) != 0)
    return cr_error_set(err, CR_ENGINE, "not a WebAssembly module");
  in.at += MAGIC_LENGTH;
  put(&to, magic, MAGIC_LENGTH);
  while (in.at < in.end && !in.bad) {
    uint8_t id = byte(&in);
    struct cursor body = part(&in, number(&in));
    section(id, &body, snapshot, dropped, &to);
    if (body.bad) return cr_error_set(err, CR_ENGINE, "section %u of the module is not as expected", id);
  }
  if (in.bad) return cr_error_set(err, CR_ENGINE, "the module is cut off");
  return to.failed ? cr_error_set(err, CR_ENGINE, "the baked module is too large") : 0;
}
