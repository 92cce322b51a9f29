#include "bus/engine/expand.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/yaml.h"

#define EXPANDED_MAX (16u << 20)  // bytes of all texts of one value

struct expansion {
  yyjson_mut_doc *doc;
  struct cr_buf *unset;
  size_t left;
};

struct placeholder {
  const char *name, *fallback;  // fallback NULL: none
  size_t name_length, fallback_length, length;
};

// \$\{([^}:]+)(?::([^}]*))?\} at `text`.
static int read_placeholder(const char *text, size_t length, struct placeholder *found) {
  if (length < 4 || text[0] != '$' || text[1] != '{') return 0;
  const char *end = memchr(text + 2, '}', length - 2);
  if (!end) return 0;
  const char *colon = memchr(text + 2, ':', (size_t)(end - text - 2));
  const char *name_end = colon ? colon : end;
  if (name_end == text + 2) return 0;
  *found = (struct placeholder){.name = text + 2,
                                .name_length = (size_t)(name_end - text - 2),
                                .fallback = colon ? colon + 1 : NULL,
                                .fallback_length = colon ? (size_t)(end - colon - 1) : 0,
                                .length = (size_t)(end - text) + 1};
  return 1;
}

// Whether `name` is one of the names in "A, B".
static int is_listed(const struct cr_buf *unset, const char *name, size_t length) {
  for (size_t at = 0; at + length <= unset->len; at++) {
    int starts = at == 0 || unset->data[at - 1] == ' ',
        ends = at + length == unset->len || unset->data[at + length] == ',';
    if (starts && ends && !memcmp(unset->data + at, name, length)) return 1;
  }
  return 0;
}

// The text a placeholder stands for, or NULL. Not owned but for `name`'s copy, which the caller frees.
static const char *lookup(const struct placeholder *found, size_t *length) {
  cr_autofree char *name = cr_strndup(found->name, found->name_length);
  const char *text = getenv(name);
  if (text) {
    *length = strlen(text);
    return text;
  }
  static const char version[] = "__III_ENGINE_VERSION__";
  if (found->fallback && found->fallback_length == sizeof version - 1 &&
      !memcmp(found->fallback, version, sizeof version - 1)) {
    *length = strlen(CR_VERSION);
    return CR_VERSION;
  }
  *length = found->fallback_length;
  return found->fallback;
}

static int append(struct cr_buf *out, struct cr_buf *unset, const char *text, size_t length) {
  for (size_t at = 0; at < length;) {
    struct placeholder found;
    size_t size = 1;
    const char *piece = text + at;
    if (read_placeholder(text + at, length - at, &found)) {
      piece = lookup(&found, &size);
      if (!piece) {
        if (!is_listed(unset, found.name, found.name_length))
          cr_buf_printf(unset, "%s%.*s", unset->len ? ", " : "", (int)found.name_length, found.name);
        piece = text + at;
        size = found.length;
      }
      at += found.length;
    } else {
      at++;
    }
    if (cr_buf_append(out, piece, size)) return -1;
  }
  return 0;
}

static int is_blank(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (!strchr(" \t\r\n", text[i])) return 0;
  return 1;
}

// Whether the whole text is one placeholder, blanks aside, that can be replaced.
static int is_lone(const char *text, size_t length) {
  size_t lead = strspn(text, " \t\r\n"), size;
  struct placeholder found;
  return lead < length && read_placeholder(text + lead, length - lead, &found) && lookup(&found, &size) &&
         is_blank(text + lead + found.length, length - lead - found.length);
}

// The replaced text of a lone placeholder is YAML; what is none stays a string.
static yyjson_mut_val *typed(yyjson_mut_doc *doc, const struct cr_buf *text) {
  const char *bytes = (const char *)text->data;
  if (is_blank(bytes, text->len)) return yyjson_mut_strncpy(doc, text->len ? bytes : "", text->len);
  yyjson_mut_doc *parsed = cr_yaml_parse(bytes, text->len, NULL);
  yyjson_mut_val *value = parsed ? yyjson_mut_val_mut_copy(doc, yyjson_mut_doc_get_root(parsed))
                                 : yyjson_mut_strncpy(doc, bytes, text->len);
  yyjson_mut_doc_free(parsed);
  return value;
}

static yyjson_mut_val *expand_text(struct expansion *expansion, yyjson_val *value) {
  yyjson_mut_doc *doc = expansion->doc;
  const char *text = yyjson_get_str(value);
  size_t length = yyjson_get_len(value);
  cr_autobuf out = CR_BUF(expansion->left);
  if (!memmem(text, length, "${", 2) || append(&out, expansion->unset, text, length))
    return yyjson_val_mut_copy(doc, value);
  expansion->left -= out.len;
  if (is_lone(text, length)) return typed(doc, &out);
  return yyjson_mut_strncpy(doc, out.len ? (const char *)out.data : "", out.len);
}

// Recursion is bounded: messages and files nest at most 128 deep.
static yyjson_mut_val *expand(struct expansion *expansion, yyjson_val *value) {
  yyjson_mut_doc *doc = expansion->doc;
  size_t index, count;
  yyjson_val *key, *item;
  if (yyjson_is_str(value)) return expand_text(expansion, value);
  if (yyjson_is_arr(value)) {
    yyjson_mut_val *array = yyjson_mut_arr(doc);
    yyjson_arr_foreach(value, index, count, item) yyjson_mut_arr_append(array, expand(expansion, item));
    return array;
  }
  if (!yyjson_is_obj(value)) return yyjson_val_mut_copy(doc, value);
  yyjson_mut_val *object = yyjson_mut_obj(doc);
  yyjson_obj_foreach(value, index, count, key, item)
      yyjson_mut_obj_add(object, yyjson_val_mut_copy(doc, key), expand(expansion, item));
  return object;
}

yyjson_mut_val *cr_expand(yyjson_mut_doc *doc, yyjson_val *value, struct cr_buf *unset) {
  struct expansion expansion = {doc, unset, EXPANDED_MAX};
  return expand(&expansion, value);
}
