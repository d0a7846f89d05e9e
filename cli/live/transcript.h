/*
 * The last lines of what a command prints, as a terminal would show them. Carriage returns, tabs,
 * backspaces and moves of the cursor between lines have their effect, so that progress bars stay
 * one line. So have colours of letters, bold and reverse (text_style). All other sequences are
 * skipped, and so is what goes to the alternate screen.
 */
#pragma once

#include "grid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSCRIPT_LINES 200
#define TRANSCRIPT_COLUMNS 256

struct transcript {
    /* A ring; owned. A character, and above its bits its style; 0: nothing was written there. */
    uint32_t (*lines)[TRANSCRIPT_COLUMNS];
    size_t first, count; /* `count` is at least 1 */
    size_t dropped;      /* lines that were before the first one */
    size_t line;         /* of the cursor, counted from `first` */
    size_t column;
    bool is_alternate; /* the command draws on the alternate screen, as editors and pagers do */
    unsigned style;    /* of what comes next, enum style */
    enum { TRANSCRIPT_TEXT, TRANSCRIPT_ESCAPE, TRANSCRIPT_SEQUENCE, TRANSCRIPT_STRING } state;
    char parameters[48];
    size_t parameter_count;
    char partial[4]; /* the beginning of a character */
    size_t partial_length;
};

/* False without memory. */
bool transcript_init(struct transcript *transcript);
void transcript_finish(struct transcript *transcript);

void transcript_add(struct transcript *transcript, const char *bytes, size_t length);

/* Whether nothing that shows has come. */
bool transcript_is_empty(const struct transcript *transcript);

/* Lines that show: all that have come, and those of them that are still there. */
size_t transcript_lines(const struct transcript *transcript);
size_t transcript_kept(const struct transcript *transcript);

/* Draws lines up to that which `up` others follow, the latest one at the bottom. A line that is
 * longer than a row ends with "~". */
void transcript_draw(
    const struct transcript *transcript, struct grid *grid, int row, int rows, size_t up);
