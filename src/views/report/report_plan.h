/*
 * Which files make up the sessions of a report: folders opened, files distinguished by their
 * content, and put to the session that they are of, as the catalogue has it
 * (files/catalogue/catalogue.h).
 */
#pragma once

#include "base/error.h"
#include "views/report/loaders/report_loader.h"

#include <gputracker/report.h>

#include <stddef.h>

struct report_planned {
    struct gput_report_session given;   /* what the caller knows of it */
    const struct report_loader *loader; /* NULL: there is no file */
    char *path;                         /* owned; NULL: there is no file */
    /* What the page calls it: as the caller does, else its file, with the path where another file
     * has the same name. */
    const char *name;
    bool is_named; /* the caller has a name for it alone */
    size_t folder; /* equal for what is from one folder; 0: named by itself */
    char *results; /* a file with its results, or NULL; owned */
    char **marks;  /* its sub-tracking files; owned */
    size_t n_marks;
};

struct report_plan {
    struct report_planned *sessions; /* owned */
    size_t count, folders;
    /* Files of sessions that are empty, damaged, or may not be read: what is named after them is
     * of no other. */
    struct report_left_out {
        char *path; /* owned */
        size_t folder;
    } * left_out; /* owned */
    size_t left_out_count;
    /* Files of which another one of their session has all that they have: they are not shown. */
    struct report_copy {
        char *path; /* owned */
        const struct report_loader *loader;
        size_t session; /* of the plan, whose copy it is */
    } * copies;         /* owned */
    size_t copy_count;
    /* Called for both; NULL: not said. */
    void (*warn)(void *user, const char *message);
    void *user;
};

/*
 * Makes the plan: opens folders, and puts files to their sessions. What matches no session is one
 * by itself.
 *
 * To be freed by report_plan_finish(), also on failure. Errors: GPUT_ERROR_INVALID (no session,
 * marks of unknown sessions), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_FORMAT,
 * GPUT_ERROR_MEMORY.
 */
int report_plan_make(
    const struct gput_report_options *options, struct report_plan *plan, struct gput_error *error);

/*
 * The ranks of the sessions, where their names or paths are those of the ranks of one job:
 * report_ranks_of(). The caller frees `*ranks`, which is NULL where they are not. Errors:
 * GPUT_ERROR_MEMORY.
 */
int report_plan_ranks(const struct report_plan *plan, long **ranks, struct gput_error *error);

void report_plan_finish(struct report_plan *plan);
