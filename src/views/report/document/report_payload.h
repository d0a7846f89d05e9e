/*
 * What a report shows, as one byte string: a JSON document, then the columns that it refers to.
 * docs/report-format.md describes it.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "base/names.h"
#include "views/report/document/report_bytes.h"
#include "views/report/document/report_column.h"

#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_FORMAT 1

/* Columns begin at multiples of this, so that doubles can be read in place. */
#define REPORT_ALIGNMENT 8

struct report_payload {
    struct report_spool spool;  /* of all columns */
    struct doc *root;           /* the document; owned */
    struct doc *warnings;       /* a part of it; NULL: there is none yet */
    struct report_bytes *parts; /* what follows it, in order; owned */
    size_t part_count;
    size_t first_shared;  /* from this part on, what is equal is there once: those of a session */
    uint64_t shared_from; /* where it begins */
    uint64_t length;      /* of all parts, each with what aligns the next */
};

/* `folder` is for the temporary file, and must outlive the payload. Errors: GPUT_ERROR_MEMORY. */
int report_payload_init(
    struct report_payload *payload, const char *folder, struct gput_error *error);
void report_payload_finish(struct report_payload *payload);

/* Columns that follow share their bytes with equal ones that follow, not with those before. */
void report_payload_begin_session(struct report_payload *payload);

/* Adds a warning about the sessions together. */
void report_payload_warn(struct report_payload *payload, const char *message);

/*
 * Adds a column to the document, as member `key` of an object or, with NULL, as item of an array,
 * and its bytes to what follows. Takes the content of the column. Errors: GPUT_ERROR_MEMORY,
 * GPUT_ERROR_IO.
 */
int report_payload_add_column(struct report_payload *payload, struct doc *parent, const char *key,
    struct report_column *column, struct gput_error *error);

/* Adds a column, as above, that has the rows of several ones in turn: those of names[0] first. It
 * is a REPORT_DELTA one. */
int report_payload_add_interleaved(struct report_payload *payload, struct doc *parent,
    const char *const *names, unsigned count, struct report_column *column,
    struct gput_error *error);

/* The bytes at that offset of what follows the document; NULL: none begin there. */
const struct report_bytes *report_payload_part(
    const struct report_payload *payload, uint64_t offset);

/* Passes the whole payload to the receiver. Errors: GPUT_ERROR_MEMORY, also where the document
 * lacks something because memory ran out, and those of report_bytes_pass(). */
int report_payload_pass(const struct report_payload *payload, report_receiver *receive, void *user,
    struct gput_error *error);

/* Appends a table to an array: id, title, columns (name, unit, type) and rows; null is missing.
 * `is_shown` says which rows it has; NULL: all. */
void report_table_add(struct doc *list, const char *id, const char *title,
    const struct gput_table *table,
    bool (*is_shown)(const struct gput_table *table, size_t row, const void *user),
    const void *user);

/* Adds a list of names to an object. */
void report_payload_add_names(struct doc *object, const char *key, const struct names *names);
