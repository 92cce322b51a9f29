// engine::workers::register: what a connection says of itself (spec 3.2), and who has which worker name.
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "bus/engine/internal.h"

#define NAME_CHARACTERS 280

struct worker_name {
  char *key;  // namespace NUL name
  struct peer *owner;
  UT_hash_handle hh;
};

static char *key_of(const char *name_space, const char *name, size_t *length) {
  size_t first = strlen(name_space) + 1, second = strlen(name);
  char *key = cr_alloc(first + second + 1);
  memcpy(key, name_space, first);
  memcpy(key + first, name, second + 1);
  *length = first + second;
  return key;
}

static struct worker_name *find_name(struct cr_engine *engine, const char *name_space, const char *name) {
  size_t length = 0;
  cr_autofree char *key = key_of(name_space, name, &length);
  struct worker_name *found = NULL;
  HASH_FIND(hh, engine->names, key, length, found);
  return found;
}

void cr_workers_release(struct peer *peer) {
  if (!peer->owns_name) return;
  struct worker_name *name = find_name(peer->engine, peer->name_space, peer->name);
  peer->owns_name = 0;
  if (!name) return;
  HASH_DEL(peer->engine->names, name);
  free(name->key);
  free(name);
}

static void claim(struct peer *peer) {
  struct worker_name *name = cr_alloc(sizeof *name);
  size_t length = 0;
  name->key = key_of(peer->name_space, peer->name, &length);
  name->owner = peer;
  HASH_ADD_KEYPTR(hh, peer->engine->names, name->key, length, name);
  peer->owns_name = 1;
}

// U+202A to U+202E and U+2066 to U+2069 (bidirectional controls), U+200E, U+200F, U+061C, and C1 controls; `length`
// bytes.
static int is_forbidden(const unsigned char *at, size_t *length) {
  *length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
  if (*at < 0x20 || *at == 0x7f) return 1;
  if (*at == 0xc2 && at[1] < 0xa0) return 1;
  if (*at == 0xd8 && at[1] == 0x9c) return 1;
  if (*at != 0xe2) return 0;
  if (at[1] == 0x80) return (at[2] >= 0xaa && at[2] <= 0xae) || at[2] == 0x8e || at[2] == 0x8f;
  return at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9;
}

static int is_blank(const char *text) { return text[strspn(text, " \t\r\n")] == 0; }

// Without control characters, at most NAME_CHARACTERS long; NULL when nothing is left. The text is valid UTF-8.
static char *sanitized(const char *text) {
  if (!text) return NULL;
  char *clean = cr_alloc(strlen(text) + 1);
  size_t count = 0, characters = 0, length;
  for (const unsigned char *at = (const unsigned char *)text; *at && characters < NAME_CHARACTERS; at += length) {
    if (is_forbidden(at, &length)) continue;
    memcpy(clean + count, at, length);
    count += length;
    characters++;
  }
  clean[count] = 0;
  if (!is_blank(clean)) return clean;
  free(clean);
  return NULL;
}

static void replace(char **field, char *value) {
  free(*field);
  *field = value;
}

// iii-sdk before 0.23 does not know the rejection and would reconnect once a second for ever (spec 11.20).
static int is_old_sdk(yyjson_val *input) {
  const char *runtime = cr_optional_text(input, "runtime"), *version = cr_optional_text(input, "version");
  return runtime && version && !strcmp(runtime, "node") && !strncmp(version, "0.", 2) &&
         strtol(version + 2, NULL, 10) < 23;
}

static void reject(struct peer *peer, const char *name_space, const char *name, const char *owner) {
  struct cr_writer writer = cr_engine_frame(peer->engine, "registrationrejected");
  cr_write_text(&writer, "code", "WORKER_NAMESPACE_CONFLICT");
  cr_write_text(&writer, "namespace", name_space);
  cr_write_text(&writer, "worker_name", name);
  cr_write_text(&writer, "owner_worker_id", owner);
  if (!cr_writer_close(&writer)) cr_peer_send_frame(peer);
  peer->io->end(peer->of, 0);
}

static void describe(struct peer *peer, yyjson_val *input) {
  replace(&peer->runtime, sanitized(cr_optional_text(input, "runtime")));
  replace(&peer->version, sanitized(cr_optional_text(input, "version")));
  replace(&peer->description, sanitized(cr_optional_text(input, "description")));
  replace(&peer->os, sanitized(cr_optional_text(input, "os")));
  replace(&peer->isolation, sanitized(cr_optional_text(input, "isolation")));
  const char *pid = yyjson_get_raw(yyjson_obj_get(input, "pid"));
  char *end = NULL;
  unsigned long long number = pid && *pid != '-' ? strtoull(pid, &end, 10) : 0;
  if (end && !*end && number <= UINT32_MAX) peer->pid = (int64_t)number;
}

static void answer_success(struct invocation *invocation, int success) {
  static const char *const results[] = {"{\"success\":false}", "{\"success\":true}"};
  cr_answer_json(invocation, results[success], strlen(results[success]));
}

static void workers_register(struct cr_engine *engine, struct invocation *invocation, yyjson_val *input) {
  struct peer *peer = invocation->origin;
  const char *name_space = cr_optional_text(input, "namespace");
  if (!peer) {
    cr_answer_error(invocation, "INVALID_ARGUMENTS", "only a connected worker can describe itself");
    return;
  }
  if (name_space && is_blank(name_space)) {
    cr_answer_error(invocation, "INVALID_NAMESPACE", "the field `namespace` of the worker is blank");
    return;
  }
  if (peer->settled || !name_space) name_space = peer->settled ? peer->name_space : DEFAULT_NAMESPACE;
  char *name = sanitized(cr_optional_text(input, "name"));
  struct worker_name *taken = name ? find_name(engine, name_space, name) : NULL;
  if (taken && taken->owner != peer && !is_old_sdk(input)) {
    reject(peer, name_space, name, taken->owner->id);
    free(name);
    answer_success(invocation, 0);
    return;
  }
  describe(peer, input);
  if (name) {
    if (!taken || taken->owner != peer) cr_workers_release(peer);
    replace(&peer->name, name);
  }
  char *settled = cr_strdup(name_space);
  cr_peer_settle(peer, settled);
  free(settled);
  if (name && !taken && !peer->gone) claim(peer);
  cr_event_worker(engine, "worker_metadata_updated", peer->id);
  answer_success(invocation, 1);
}

void cr_workers_start(struct cr_engine *engine) {
  cr_builtin_register(engine, "engine::workers::register", "Describes the calling connection: name, runtime, namespace",
                      workers_register);
}
