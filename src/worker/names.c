#include "worker/names.h"

#include <string.h>

#include "base/mem.h"

static const char *fault(const char *name, size_t length) {
  if (length > CR_NAME_MAX) return "it is longer than 64 bytes";
  if (name[0] == '.') return "it begins with a dot";
  for (size_t i = 0; i < length; i++) {
    if (!name[i] || !strchr("abcdefghijklmnopqrstuvwxyz0123456789._-", name[i]))
      return "only a-z, 0-9, `.`, `_` and `-` may be in it";
    if (i && name[i] == '.' && name[i - 1] == '.') return "it has two dots in a row";
  }
  return NULL;
}

static char *checked(const char *name, size_t length, struct cr_error *err) {
  const char *why = fault(name, length);
  if (!why) return cr_format("%.*s::", (int)length, name);
  int shown = length < 80 ? (int)length : 80;
  cr_error_set(err, CR_INVALID_REQUEST, "namespace `%.*s` is not one worker name: %s; for example `my-app::`", shown,
               name, why);
  return NULL;
}

char *cr_name_of_function(const char *function_id, struct cr_error *err) {
  const char *colons = strstr(function_id, "::");
  if (!colons || colons == function_id) {
    cr_error_set(err, CR_INVALID_REQUEST, "the function id `%.80s` has no namespace; for example `my-app::greet`",
                 function_id);
    return NULL;
  }
  if (!colons[2]) {
    cr_error_set(err, CR_INVALID_REQUEST,
                 "the function id `%.80s` has no name behind its namespace; for example `my-app::greet`", function_id);
    return NULL;
  }
  return checked(function_id, (size_t)(colons - function_id), err);
}

char *cr_name_canonical(const char *name, size_t length, struct cr_error *err) {
  while (length && name[length - 1] == ':') length--;
  if (length) return checked(name, length, err);
  cr_error_set(err, CR_INVALID_REQUEST, "`namespace` names no prefix; for example `my-app::`");
  return NULL;
}
