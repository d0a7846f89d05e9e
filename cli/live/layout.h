/*
 * Where everything is on a terminal of some size. A row or a count of 0 or fewer: it is not shown.
 */
#pragma once

#include <stdbool.h>

/* The smallest terminal on which the view is of use. */
enum { LAYOUT_MIN_COLUMNS = 20, LAYOUT_MIN_ROWS = 5 };

/* What there is to be shown. */
struct layout_needs {
    int figures, gpus, blocks;
    int n_machine;        /* figures of the machine, its cores counted as one */
    bool has_activity;    /* it is known what processes do */
    int processes;        /* the most so far: a table that only grows does not jump */
    bool last_is_flat;    /* one row is enough for the last figure */
    bool has_output;      /* of the command, on this terminal */
    bool output_is_empty; /* so far: one row is kept for it */
    bool output_is_large; /* it takes the place of the processes */
};

struct layout {
    bool is_too_small;
    int figures_row, figures; /* the first row, and how many are shown */
    int figure_rows;          /* rows of each, but of those at the end that have one */
    int flat_figures;
    int heading_row;         /* above the figures; -1: none */
    int main_columns;        /* of figures; the rest is for those of the machine */
    int machine_figure_rows; /* of each figure of the machine; 0: there is no space for them */
    int n_machine;           /* how many of these are shown */
    int machine_row;         /* one line of the machine in place of these; -1: none */
    int activity_row;        /* -1: none */
    int gpus_row, gpus;
    int blocks_row, blocks;
    int table_row, table_rows; /* its heading, and the rows of processes below that */
    int separator_row;         /* above the output; -1: none */
    int output_row, output_rows;
    int footer_row;
};

struct layout layout_make(int columns, int rows, const struct layout_needs *needs);

/* The columns of a line of a figure. */
struct layout_figure {
    int now, peak; /* where these end */
    int bar, bar_columns;
    int curve, curve_columns;
    int note, note_columns;
};

/* `is_of_machine`: it has a longer name, and no peak and no note. */
struct layout_figure layout_make_figure(int columns, bool is_of_machine);

/* The columns of the table of processes, from left to right; 0 wide: not shown. */
enum table_column {
    TABLE_PID,
    TABLE_DOING,
    TABLE_BAR,
    TABLE_CPU,
    TABLE_RAM,
    TABLE_GPU_RAM,
    TABLE_THREADS,
    TABLE_TIME,
    TABLE_COMMAND,
    TABLE_COLUMNS,
};

struct layout_table {
    int start[TABLE_COLUMNS], width[TABLE_COLUMNS];
};

struct layout_table layout_make_table(int columns, bool has_gpus, bool has_activity);
