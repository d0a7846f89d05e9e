/*
 * The processes of a snapshot as the rows of a table: as a tree or flat, sorted, filtered, with
 * subtrees folded into one row, and one of them selected. Kernel threads are folded at first, in a
 * flat table, too. Rows are remembered by pid and start, so
 * that the selection and what is folded stay with their process.
 */
#pragma once

#include "meter.h"

#include <gputracker/snapshot.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum process_sort {
    SORT_CPU,
    SORT_RAM,
    SORT_GPU_RAM,
    SORT_TIME,
    SORT_PID,
    SORT_NAME,
    SORT_COUNT,
};

/* "CPU", "RAM" … Static text. */
const char *process_sort_name(enum process_sort sort);

struct process_id {
    pid_t pid; /* 0: none */
    uint64_t start_ticks;
};

/* What is remembered of a process from one snapshot to the next. */
struct process_note {
    struct process_id id;
    double cpu_average;       /* of the last seconds, shown and sorted by: rows do not jump */
    struct activity seconds;  /* of its threads, as of the last snapshot */
    struct activity activity; /* of the last seconds; NaN: not known */
    bool is_folded;
    char name[48];
    char *command;     /* owned; NULL: not read yet */
    char *earlier;     /* owned; as it was read at the snapshot before; NULL: it was not */
    bool is_confirmed; /* it was read twice the same */
};

struct process_row {
    const struct gput_snapshot_process *process; /* belongs to the snapshot */
    struct process_note *note;
    /* Its own figures; of a folded one those of its subtree. */
    double cpu_percent, ram_bytes, gpu_ram_bytes, cpu_seconds;
    struct activity activity;
    uint32_t threads;
    bool ram_is_least; /* the subtree's RAM is that or more: what its processes share counts once */
    unsigned depth;
    bool is_last;         /* of the children of its parent */
    bool has_children;    /* in the snapshot */
    size_t folded;        /* how many processes are in it besides its own */
    uint64_t open_levels; /* bit n: on level n another row follows below */
};

/* Gives the command line of a process for people, which the caller frees; NULL: none. */
typedef char *process_command_reader(void *user, const struct gput_snapshot_process *process);

/* All zeroes is an empty one, flat, sorted by CPU. */
struct process_rows {
    struct process_row *rows; /* owned */
    size_t count, selected;   /* `selected` is an index, if `selection` has one */
    struct process_id selection;
    size_t total; /* processes of the snapshot */

    enum process_sort sort;
    bool is_tree;
    char filter[64]; /* shows processes of which name, command line or pid has this; "": all */
    process_command_reader *read_command; /* NULL: names alone */
    void *user;

    const struct gput_snapshot *snapshot; /* borrowed */
    struct process_note *notes;           /* owned; by pid */
    size_t n_notes;
    struct process_node *nodes; /* owned; scratch */
    uint32_t *order;            /* owned; scratch */
    size_t capacity;
};

void process_rows_finish(struct process_rows *rows);

/* Takes the processes of a snapshot, which must live until the next one is taken. `seconds` have
 * passed since the one before; NaN: it is not a later one, and means begin anew. False without
 * memory: the rows are then empty. */
bool process_rows_take(
    struct process_rows *rows, const struct gput_snapshot *snapshot, double seconds);

/* After a change of what is shown or how. */
void process_rows_arrange(struct process_rows *rows);

/* Its command line, else its name. Belongs to the rows. */
const char *process_rows_command(struct process_rows *rows, const struct process_row *row);

/* What it does, in a word: "running", "storage", "pipe" …. Static text. */
const char *process_row_doing(const struct process_row *row);

/* What all processes of the snapshot do; NaN: not known. */
struct activity process_rows_activity(const struct process_rows *rows);

/* The selected row, or NULL. */
const struct process_row *process_rows_selected(const struct process_rows *rows);

/* Selects another row, `by` rows below; the first one where none was selected. */
void process_rows_move(struct process_rows *rows, long by);

/* Folds or unfolds the selected one. */
void process_rows_toggle_fold(struct process_rows *rows);
