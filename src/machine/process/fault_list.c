#include "machine/process/fault_list.h"

#include <stdio.h>
#include <string.h>

/* Space for "; and 99 more". */
#define MORE_SIZE 16

void fault_list_begin(struct fault_list *list, char *text, size_t size)
{
    *list = (struct fault_list){.text = text, .size = size};
    text[0] = '\0';
}

void fault_list_add(struct fault_list *list, const char *fault)
{
    size_t length = strlen(fault) + 2;
    if (list->more || list->length + length + MORE_SIZE > list->size) {
        list->more++;
        return;
    }
    list->length += (size_t)snprintf(list->text + list->length, list->size - list->length, "%s%s",
        list->length ? "; " : "", fault);
}

void fault_list_end(const struct fault_list *list)
{
    if (list->more)
        snprintf(list->text + list->length, list->size - list->length, "; and %u more", list->more);
}
