/*
 * The vtable of the readers of sub-tracking files, and the members that all of them share. For the
 * formats' own sources only.
 */
#pragma once

#include "files/marks/sub_tracking_columns.h"
#include "files/marks/sub_tracking_file.h"
#include "files/salvage.h"

/* First member of each format's reader. */
struct sub_tracking_reader {
    const struct sub_tracking_format_methods *methods;
    char *path;
    struct sub_tracking_names *names; /* the caller's */
    unsigned columns;
    uint64_t rows; /* returned so far */
    struct salvage salvage;
    struct sub_tracking_lost lost;
    uint32_t checked_name;            /* the name of the row before */
    struct sub_tracking_lost checked; /* what it says of lost calls; nothing: it is a block's */
    bool is_label;                    /* or it says something of a process or thread */
    struct sub_tracking_labels labels;
    bool has_ended;
    char *warning; /* or NULL */
};

struct sub_tracking_format_methods {
    const char *extension;
    size_t reader_bytes; /* size of a reader, all zero before open() */

    /* Opens reader->path, sets reader->columns. After a failure close() is called as well. */
    int (*open)(struct sub_tracking_reader *reader, struct gput_error *error);
    int (*next)(struct sub_tracking_reader *reader, struct sub_tracking_mark *rows, size_t capacity,
        size_t *count, struct gput_error *error);
    void (*progress)(const struct sub_tracking_reader *reader, uint64_t *done, uint64_t *total);
    /* Frees what open() allocated, without the reader itself. */
    void (*close)(struct sub_tracking_reader *reader);
};

extern const struct sub_tracking_format_methods sub_tracking_csv;
extern const struct sub_tracking_format_methods sub_tracking_sqlite;
extern const struct sub_tracking_format_methods sub_tracking_log;

/* `Sub-tracking file x is invalid: …` */
int sub_tracking_invalid(const struct sub_tracking_reader *reader, struct gput_error *error,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets reader->warning to `Sub-tracking file x: …`. */
void sub_tracking_warn(struct sub_tracking_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets it for a file of which not even the beginning was written. */
void sub_tracking_warn_of_no_marks(struct sub_tracking_reader *reader);

/* GPUT_OK when the header had every required column; `have` is a set of 1 << column. */
int sub_tracking_require_columns(
    const struct sub_tracking_reader *reader, unsigned have, struct gput_error *error);
