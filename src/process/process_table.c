#include "process/process_table.h"

#include <stdint.h>
#include <stdlib.h>

#define FIRST_SIZE 64

void process_table_finish(struct process_table *table)
{
    free(table->slots);
    *table = (struct process_table){0};
}

static size_t slot_of(const struct process_table *table, pid_t pid)
{
    return ((size_t)pid * 2654435761u) & (table->size - 1);
}

struct process_record *process_table_get(const struct process_table *table, pid_t pid)
{
    if (table->size == 0)
        return NULL;
    struct process_record *record = table->slots[slot_of(table, pid)];
    while (record && record->pid != pid)
        record = record->next;
    return record;
}

/* The newest record of a pid is found first. */
static void link_in(struct process_table *table, struct process_record *record)
{
    struct process_record **slot = &table->slots[slot_of(table, record->pid)];
    record->next = *slot;
    *slot = record;
}

static bool grow(struct process_table *table)
{
    size_t size = table->size ? table->size * 2 : FIRST_SIZE;
    struct process_table old = *table;
    struct process_record **slots = calloc(size, sizeof(void *));
    if (!slots)
        return false;
    table->slots = slots;
    table->size = size;
    for (size_t i = 0; i < old.size; i++) {
        for (struct process_record *record = old.slots[i], *next; record; record = next) {
            next = record->next;
            link_in(table, record);
        }
    }
    free(old.slots);
    return true;
}

bool process_table_insert(struct process_table *table, struct process_record *record)
{
    if (table->count == table->size && !grow(table))
        return false;
    link_in(table, record);
    table->count++;
    return true;
}

void process_table_remove(struct process_table *table, struct process_record *record)
{
    struct process_record **link = &table->slots[slot_of(table, record->pid)];
    while (*link != record)
        link = &(*link)->next;
    *link = record->next;
    table->count--;
}

static struct process_record *first_from(const struct process_table *table, size_t slot)
{
    for (; slot < table->size; slot++) {
        if (table->slots[slot])
            return table->slots[slot];
    }
    return NULL;
}

struct process_record *process_table_first(const struct process_table *table)
{
    return first_from(table, 0);
}

struct process_record *process_table_next(
    const struct process_table *table, const struct process_record *record)
{
    return record->next ? record->next : first_from(table, slot_of(table, record->pid) + 1);
}
