/*
 * What is shown and how keys change it: draws figures, processes and output into a grid. It does
 * nothing itself: view_key() returns what is to be done.
 */
#pragma once

#include "grid.h"
#include "layout.h"
#include "process_rows.h"
#include "transcript.h"
#include "view_figures.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gputracker/snapshot.h>

struct open_block {
    char name[96];
    int64_t process_id;
    double start;   /* seconds since the epoch; of the call that began first */
    unsigned calls; /* how many of this name are open in this process */
};

struct open_blocks {
    const char *path;          /* borrowed; NULL: there is no file */
    struct open_block *blocks; /* owned; the one that began first, first */
    size_t count, capacity;
    int64_t due_ms;
};

enum view_mode {
    VIEW_NORMAL,
    VIEW_HELP,
    VIEW_FILTER, /* a filter is typed */
    VIEW_SIGNAL, /* a signal is to be confirmed */
    VIEW_INPUT,  /* a line for the command is typed */
};

enum view_action {
    VIEW_NOTHING,
    VIEW_CLOSE,
    VIEW_REDRAW,      /* the terminal may show something else */
    VIEW_GO_BACK,     /* to the snapshot of figures.back_seconds ago */
    VIEW_SEND_SIGNAL, /* `signal_number` to `signalled` */
    VIEW_SEND_INPUT,  /* `input` to the command */
};

struct view {
    char title[256];
    struct view_figures figures;
    struct process_rows processes;
    const struct transcript *output;  /* of the command; NULL: it is not on this terminal */
    const struct open_blocks *blocks; /* borrowed; NULL: there are none */
    double now;                       /* seconds since the epoch, for them */
    bool runs_command;                /* closing the view does not end the program */
    bool takes_input;                 /* the command's standard input is this terminal */
    bool has_ended;                   /* what is tracked has */
    bool output_is_large;

    enum view_mode mode;
    char input[256]; /* what is typed in VIEW_INPUT, UTF-8 */
    char filter_before[64];
    struct process_id signalled; /* in VIEW_SIGNAL */
    char signalled_name[48];
    int signal_number;
    char message[160]; /* in the footer until the next key */
    int help_top,
        help_next; /* the first line of the help that is shown, and of its next page; 0: no other */
    struct layout layout; /* as it was drawn */
    struct layout_table table;
    struct footer_key {
        int end; /* the column after it */
        uint32_t key;
    } footer[12]; /* what a click does there; as it was drawn */
    size_t n_footer;
    size_t top; /* the first row of processes that is shown */
    int page;   /* how many are */
    size_t most_processes;
    size_t output_up;    /* lines of output below what is shown of it; 0: its end is */
    int output_page;     /* rows that it has */
    size_t output_lines; /* how many there had been when it was drawn */
};

void view_finish(struct view *view);

void view_draw(struct view *view, struct grid *grid);

/* `row` and `column` are those of a key that is the mouse's. */
enum view_action view_key(struct view *view, uint32_t key, int row, int column);

void open_blocks_finish(struct open_blocks *blocks);

/* Reads the file when that is due. A file that is not there, or cannot be read, has none; so do
 * processes that are not in the snapshot any more. True when something may have changed. */
bool open_blocks_update(
    struct open_blocks *blocks, const struct gput_snapshot *snapshot, int64_t now_ms);
