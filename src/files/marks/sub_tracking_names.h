/*
 * A table that gives each name of a code block a number. A name is never moved, and lives as long
 * as the table, so that finding one takes no lock. Threads that mark blocks and readers of files
 * use the same table.
 */
#pragma once

#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No name: memory ran out, or the table has SUB_TRACKING_NAMES_MAX names. */
#define SUB_TRACKING_NO_NAME UINT32_MAX

/* The most names in a table. */
#define SUB_TRACKING_NAMES_MAX (UINT32_C(1) << 30)

struct sub_tracking_names;

/* A block's name: its number in the name table, and its text. */
struct block_name {
    uint32_t number;
    uint32_t length;
    const char *text;
};

/* NULL without memory. */
struct sub_tracking_names *sub_tracking_names_create(void);
void sub_tracking_names_destroy(struct sub_tracking_names *names); /* NULL is fine */
CLEANUP_DEFINE(struct sub_tracking_names, sub_tracking_names_destroy)
#define CLEANUP_NAMES CLEANUP(sub_tracking_names_destroy_pointer)

/*
 * The number of that name, from 0 in the order of first use. The bytes are copied when they are new
 * (they need no NUL at their end; a NUL among them ends the name). Any thread; a lock is taken only
 * for a new name. SUB_TRACKING_NO_NAME when it cannot be added.
 */
uint32_t sub_tracking_names_add(struct sub_tracking_names *names, const char *name, size_t length);

/* Whether some name could not be added. */
bool sub_tracking_names_lack(const struct sub_tracking_names *names);

/* How many there are. */
uint32_t sub_tracking_names_count(const struct sub_tracking_names *names);

/* The name of that number: terminated, owned by the table. */
const char *sub_tracking_names_text(const struct sub_tracking_names *names, uint32_t name);
size_t sub_tracking_names_length(const struct sub_tracking_names *names, uint32_t name);
