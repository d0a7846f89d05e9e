/*
 * A document: an ordered tree of named values. Reports are built as documents, and every output
 * format (JSON, text, …) walks them; config and result files are read into documents.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum doc_kind { DOC_NULL, DOC_BOOL, DOC_INT, DOC_DOUBLE, DOC_STRING, DOC_ARRAY, DOC_OBJECT };

struct doc {
    enum doc_kind kind;
    bool failed;      /* an append to this value ran out of memory */
    bool keeps_small; /* text output does not round it to 0 */
    char *key;        /* the name inside an object, NULL elsewhere; in the same allocation */
    /* Its name in text output; NULL: made from the key ("max_ram": "Max ram"); owned. */
    char *label;
    union { /* the one of its kind */
        bool boolean;
        int64_t integer;
        double number;
    };
    char *string;      /* owned */
    struct doc *first; /* children in order: members of an object, items of an array; owned */
    struct doc *last;
    struct doc *next; /* the sibling after this one */
    size_t count;     /* number of children */
};

/*
 * All doc_add_* functions append to `parent`: an object when `key` is given, an array when it is
 * NULL. They copy what they are given, and return the new value, which belongs to the parent. They
 * return NULL when memory ran out or `parent` is NULL, so that chains need one check only, at the
 * end: doc_failed().
 */
struct doc *doc_create_object(void);
struct doc *doc_create_array(void);
void doc_destroy(struct doc *doc); /* NULL is fine */
CLEANUP_DEFINE(struct doc, doc_destroy)

struct doc *doc_add_object(struct doc *parent, const char *key);
struct doc *doc_add_array(struct doc *parent, const char *key);
struct doc *doc_add_null(struct doc *parent, const char *key);
struct doc *doc_add_bool(struct doc *parent, const char *key, bool value);
struct doc *doc_add_int(struct doc *parent, const char *key, int64_t value);
struct doc *doc_add_double(
    struct doc *parent, const char *key, double value); /* NaN and infinities become null */
/* A number that is not known, for Python's json alone: NaN in JSON, which does not have it. */
struct doc *doc_add_nan(struct doc *parent, const char *key);
struct doc *doc_add_string(struct doc *parent, const char *key, const char *value);

/* Sets the label of a value just added (NULL is fine) and returns the value. */
struct doc *doc_label(struct doc *doc, const char *label);

/* True when an append to this tree ran out of memory somewhere below `root`. */
bool doc_failed(const struct doc *root);

/* Appends an object that was made apart, and owns it from here on, also on failure. NULL is fine:
 * nothing is added. */
void doc_add_owned(struct doc *parent, const char *key, struct doc *object);

/* Appends a copy of a value, with all below it. */
void doc_add_copy(struct doc *parent, const char *key, const struct doc *value);

/* The member of that name, or NULL. */
const struct doc *doc_get(const struct doc *object, const char *key);

/* The first item or member; NULL: there is none. */
const struct doc *doc_first(const struct doc *list);

/* The item at that index, or NULL. */
const struct doc *doc_item(const struct doc *array, size_t index);

/* A number, whole or not; NaN for anything else, and for NULL. */
double doc_number(const struct doc *value);
double doc_get_number(const struct doc *object, const char *key);

/* A whole number; 0 for anything else. */
int64_t doc_get_int(const struct doc *object, const char *key);

/* A text; NULL for anything else, and for NULL. doc_get_string(): "". */
const char *doc_string(const struct doc *value);
const char *doc_get_string(const struct doc *object, const char *key);

/* Reads a file of JSON of at most `max_bytes`. As doc_read_json(); also the errors of
 * file_read_bounded(). */
int doc_read_json_file(
    const char *path, size_t max_bytes, struct doc **doc, struct gput_error *error);

/*
 * Reads JSON (RFC 8259, at most 200 levels deep; whole numbers that do not fit an int64_t are
 * doubles; of a member named twice the last value counts), after a byte order mark, too. `name` is
 * used in messages. On success the caller owns *doc, on failure it is NULL.
 */
int doc_read_json(
    const char *text, size_t length, const char *name, struct doc **doc, struct gput_error *error);

/* The same, where Python's json.dumps() may have written it: NaN, Infinity and -Infinity, which
 * JSON does not have, are read as null. */
int doc_read_python_json(
    const char *text, size_t length, const char *name, struct doc **doc, struct gput_error *error);

/*
 * Appends the document as JSON, `indent` spaces a level, in the form of Python's
 * json.dumps(indent=…): order kept, floats as number_format_double() writes them, non-ASCII escaped
 * as \uXXXX (bytes that are not UTF-8 as \ufffd). A negative indent puts everything on one line.
 */
void doc_write_json(const struct doc *doc, int indent, struct str *text);

/* The items of a long array, which are made one by one while it is written. */
struct doc_items {
    struct doc *array; /* an empty one, in whose place they are written */
    size_t count;
    void (*add)(const void *user, size_t index, struct doc *array); /* adds that one alone */
    const void *user;
};

/* Appends a document as indented JSON, and destroys it. NULL or a failed document makes the text
 * fail. */
void doc_finish_json(struct doc *root, struct str *text);

/* Makes all of them items of their array. */
void doc_add_items(const struct doc_items *items);

/* As doc_finish_json(), with these items. */
void doc_finish_json_with(struct doc *root, const struct doc_items *items, struct str *text);
