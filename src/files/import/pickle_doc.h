/*
 * Values out of a pickle as a document: what reads results in JSON reads them, too.
 */
#pragma once

#include "base/doc.h"
#include "files/import/pickle_frame.h"

/* What a member has to be. */
enum pickle_shape {
    PICKLE_VALUE,     /* a number, a text, a dict; of an object what its state is */
    PICKLE_ONE_ROW,   /* a series: an object, by its names */
    PICKLE_MANY_ROWS, /* a data frame: an object of rows, each an object of its columns */
};

struct pickle_member {
    const char *key;
    enum pickle_shape shape;
};

/*
 * Adds a value to an object, and charges `budget` for it. What has no form in a document becomes
 * null. Dicts of more than PICKLE_KEYS_MAX keys are among that, and what is nested deeper than
 * results are.
 * Errors: GPUT_ERROR_FORMAT, with the reason as a part of a sentence; GPUT_ERROR_MEMORY is that of
 * doc_failed().
 */
int pickle_add_to_doc(const struct pickle_value *value, struct pickle_budget *budget,
    struct doc *object, const char *key, struct gput_error *error);

/* Adds those members of a dict, up to one without a key. A value that is not there is skipped, a
 * series or a frame that is not there an error. Errors: as above, and GPUT_ERROR_MEMORY. */
int pickle_add_members_to_doc(const struct pickle_value *dict, const struct pickle_member *members,
    struct pickle_budget *budget, struct doc *object, struct gput_error *error);

/* As pickle_spend(), with the reason. */
int pickle_spend_or_say(struct pickle_budget *budget, uint64_t cost, struct gput_error *error);
