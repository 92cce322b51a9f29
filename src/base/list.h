// A circular list whose links live in the records themselves.
#pragma once
#include <stddef.h>

struct cr_list {
  struct cr_list *next;
  struct cr_list *prev;
};

static inline void cr_list_init(struct cr_list *list) { list->next = list->prev = list; }
static inline int cr_list_empty(const struct cr_list *list) { return list->next == list; }

static inline void cr_list_append(struct cr_list *list, struct cr_list *item) {
  item->prev = list->prev;
  item->next = list;
  list->prev->next = item;
  list->prev = item;
}

// Safe to repeat; the item is then a list of its own.
static inline void cr_list_remove(struct cr_list *item) {
  item->prev->next = item->next;
  item->next->prev = item->prev;
  cr_list_init(item);
}

#define cr_list_item(link, type, member) ((type *)((char *)(link) - offsetof(type, member)))
