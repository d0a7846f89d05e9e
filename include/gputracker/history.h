/*
 * The history of a user on a machine: one row for each session that ended, in a folder. It has
 * figures and names of programs, and arguments only if they are given.
 *
 *     struct gput_history_entry entry = gput_history_entry_default();
 *     entry.name = "python3 train.py";
 *     if (gput_history_add("/var/tmp/history", results, &entry, &error) != GPUT_OK)
 *         fprintf(stderr, "%s\n", error.message);
 *
 * Rows are in an SQLite database, `history.HOST.sqlite`, table `sessions`. A row that cannot be
 * added to it at once waits in a file of its own, which the next reader adds: nobody waits for
 * another program's lock. Any number of programs may add and read at once.
 */
#ifndef GPUTRACKER_HISTORY_H
#define GPUTRACKER_HISTORY_H

#include <gputracker/error.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_results;

/** Whether sessions are to be kept in that folder, as gput_history_turn() set it. False: there is
 * no such folder. */
GPUT_API bool gput_history_is_on(const char *folder);

/** Turns the history on, which makes the folder, or off, which keeps its rows. Errors: those of the
 * system. */
GPUT_API int gput_history_turn(const char *folder, bool on, struct gput_error *error);

/** Facts about a session that its results lack. Sized: see gputracker/sized.h. */
struct gput_history_entry {
    size_t size;           /**< set by gput_history_entry_default() */
    const char *name;      /**< the program and its script; NULL: not known */
    const char *arguments; /**< the whole command line; NULL: it is not kept */
    /** Files whose sizes tell how much work there was, NULL at the end; NULL: none. Their sizes are
     * read now. */
    const char *const *size_of;
    /** Files that the session wrote, NULL at the end; NULL: none. */
    const char *const *files;
};

/** Sets the defaults, all zero, in a struct of that size; for gput_history_entry_default(). */
GPUT_API void gput_history_entry_init(struct gput_history_entry *entry, size_t size);

/** No facts besides the results. */
static inline struct gput_history_entry gput_history_entry_default(void)
{
    struct gput_history_entry entry;
    gput_history_entry_init(&entry, sizeof entry);
    return entry;
}

/**
 * Adds a session that has ended to the history of a folder, which is created if it is missing.
 * `entry` may be NULL. Takes a few milliseconds at most. The ranks of a launcher's job get one row
 * together, which the rank that ends last adds. They get none where they have no id in common.
 *
 * Errors: those of the system (a full disk), GPUT_ERROR_MEMORY. Nothing is added then.
 */
GPUT_API int gput_history_add(const char *folder, const struct gput_results *results,
    const struct gput_history_entry *entry, struct gput_error *error);

/** Selects the sessions that are read or forgotten: those that meet every condition that is set.
 * Sized: see gputracker/sized.h. */
struct gput_history_query {
    size_t size;            /**< set by gput_history_query_default() */
    const char *name;       /**< part of the command's name; NULL: any */
    double since_seconds;   /**< earliest start, seconds since the epoch; NaN: any */
    const int64_t *numbers; /**< numbers of sessions; NULL: any */
    size_t n_numbers;
    uint64_t last; /**< maximum number of sessions, the last ones; 0: all */
    /** Called with each part of the history that could not be read. NULL: none. */
    void (*warn)(void *user, const char *text);
    void *user; /**< passed to `warn` */
    /** Compare `name` with the whole name, without its folders: ./train.py is train.py. */
    bool is_whole_name;
    /** Column of a figure to sort by, such as "ram_bytes". Sessions that lack it come first, and
     * `last` selects the largest. NULL: sort by start. */
    const char *sort;
};

/** Sets the defaults in a struct of that size; for gput_history_query_default(). */
GPUT_API void gput_history_query_init(struct gput_history_query *query, size_t size);

/** All sessions. */
static inline struct gput_history_query gput_history_query_default(void)
{
    struct gput_history_query query;
    gput_history_query_init(&query, sizeof query);
    return query;
}

/**
 * Adds the rows that wait to the database, then reads sessions in order. `query` may be NULL.
 * `receive` gets lists with one table, "sessions", of a thousand rows at most, so that memory does
 * not grow with the history. It is called at least once, possibly without a row. The first column,
 * "number", identifies a session from now on; it is missing where the database cannot be written.
 * The others are described in the table.
 *
 * Errors: those of the receiver, GPUT_ERROR_NOT_FOUND (no such folder), GPUT_ERROR_UNSUPPORTED (no
 * SQLite), GPUT_ERROR_FORMAT (nothing can be read), those of the system.
 */
GPUT_API int gput_history_read(const char *folder, const struct gput_history_query *query,
    gput_table_receiver *receive, void *user, struct gput_error *error);

/**
 * Reads sessions from the files that they wrote, as if these were a history: reports in JSON,
 * resource usage files of killed sessions, tracking files, and manifests (".session.json"). A
 * folder stands for all such files in it and below. Several files of a session are one row, whose
 * column "files" lists them. A session's number is its place in the order. A command's name is as
 * the report has it. `query` may be NULL.
 *
 * Errors: those of the receiver, and of gput_results_load() for a file that is named itself. An
 * unreadable file in a folder gives a warning.
 */
GPUT_API int gput_history_read_files(const char *const *paths, size_t count,
    const struct gput_history_query *query, gput_table_receiver *receive, void *user,
    struct gput_error *error);

/** Removes sessions from the history and overwrites what was there; their own files stay.
 * `*n_removed` is their number. Errors: as of gput_history_read(). */
GPUT_API int gput_history_forget(const char *folder, const struct gput_history_query *query,
    uint64_t *n_removed, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
