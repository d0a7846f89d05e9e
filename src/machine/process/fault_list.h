/*
 * A list of faults as one text of limited size: "this; that; and 3 more".
 */
#pragma once

#include <stddef.h>

struct fault_list {
    char *text; /* borrowed */
    size_t size, length;
    unsigned more; /* faults without space */
};

/* Begins an empty list in `text`, which has space for `size` bytes, at least one. */
void fault_list_begin(struct fault_list *list, char *text, size_t size);
void fault_list_add(struct fault_list *list, const char *fault);

/* Appends how many faults there was no space for. */
void fault_list_end(const struct fault_list *list);
