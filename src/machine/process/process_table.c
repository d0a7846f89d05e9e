#include "machine/process/process_table.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

#define FIRST_SIZE 64

static size_t slot_of(const struct process_table *table, pid_t pid)
{
    return ((size_t)pid * 2654435761u) & (table->size - 1);
}

static struct process *with_pid(struct process *process, pid_t pid)
{
    while (process && process->pid != pid)
        process = process->next;
    return process;
}

struct process *process_table_get(const struct process_table *table, pid_t pid)
{
    return table->size ? with_pid(table->slots[slot_of(table, pid)], pid) : NULL;
}

struct process *process_table_older(const struct process *process)
{
    return with_pid(process->next, process->pid);
}

struct process *process_table_get_open(const struct process_table *table, pid_t pid)
{
    struct process *process = process_table_get(table, pid);
    while (process && !process_state_is_open(process->state))
        process = process_table_older(process);
    return process;
}

/* Doubles the table. Returns false without memory. */
static bool grow(struct process_table *table)
{
    size_t size = table->size ? table->size * 2 : FIRST_SIZE;
    struct process_table old = *table;
    struct process **slots = calloc(size, sizeof *slots);
    if (!slots)
        return false;
    table->slots = slots;
    table->size = size;
    for (size_t i = 0; i < old.size; i++) {
        for (struct process *process = old.slots[i], *next; process; process = next) {
            next = process->next;
            /* Append it: the newest process of a pid stays first. */
            struct process **link = &slots[slot_of(table, process->pid)];
            while (*link)
                link = &(*link)->next;
            *link = process;
            process->next = NULL;
        }
    }
    free(old.slots);
    return true;
}

struct process *process_table_add(struct process_table *table, pid_t pid)
{
    if (table->count == table->size && !grow(table))
        return NULL;
    struct process *process = calloc(1, sizeof *process);
    if (!process)
        return NULL;
    process->pid = pid;
    process->cpu_ns = -1;
    process->peak.gpu_ram_bytes = NAN;
    struct process **slot = &table->slots[slot_of(table, pid)];
    process->next = *slot;
    *slot = process;
    table->count++;
    return process;
}

void process_table_remove(struct process_table *table, struct process *process)
{
    struct process **link = &table->slots[slot_of(table, process->pid)];
    while (*link != process)
        link = &(*link)->next;
    *link = process->next;
    table->count--;
}

static struct process *first_from(const struct process_table *table, size_t slot)
{
    for (; slot < table->size; slot++) {
        if (table->slots[slot])
            return table->slots[slot];
    }
    return NULL;
}

struct process *process_table_first(const struct process_table *table)
{
    return first_from(table, 0);
}

struct process *process_table_next(const struct process_table *table, const struct process *process)
{
    return process->next ? process->next : first_from(table, slot_of(table, process->pid) + 1);
}

static struct process *skip_final(const struct process_table *table, struct process *process)
{
    while (process && !process_state_is_open(process->state))
        process = process_table_next(table, process);
    return process;
}

struct process *process_table_first_open(const struct process_table *table)
{
    return skip_final(table, process_table_first(table));
}

struct process *process_table_next_open(
    const struct process_table *table, const struct process *process)
{
    return skip_final(table, process_table_next(table, process));
}

void process_table_finish(struct process_table *table)
{
    struct process *after;
    for (struct process *process = process_table_first(table); process; process = after) {
        after = process_table_next(table, process);
        process_free(process);
    }
    free(table->slots);
    *table = (struct process_table){0};
}

bool process_list_append(struct process_list *list, struct process *process)
{
    if (!ARRAY_RESERVE(list->processes, list->count, list->capacity))
        return false;
    list->processes[list->count++] = process;
    return true;
}

void process_list_finish(struct process_list *list)
{
    free(list->processes);
    *list = (struct process_list){0};
}
