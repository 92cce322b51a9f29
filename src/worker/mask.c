#include "worker/mask.h"

#include <ctype.h>
#include <string.h>

#include "worker/tombstones.h"

#define ID_LENGTH (CR_RUNTIME_ID_SIZE - 1)

static int is_id(const char *text) {
  if (strncmp(text, "rt-", 3) != 0) return 0;
  for (int i = 0; i < ID_LENGTH - 3; i++) {
    int dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[3 + i] != '-' : !isxdigit((unsigned char)text[3 + i])) return 0;
  }
  return 1;
}

void cr_mask_ids(char *text, const char *known) {
  for (char *at = strstr(text, "rt-"); at; at = strstr(at + 1, "rt-"))
    if (is_id(at) && (!known || strncmp(at, known, ID_LENGTH) != 0)) memset(at + 3, '*', ID_LENGTH - 3);
}
