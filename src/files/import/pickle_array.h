/*
 * Arrays out of a pickle: numpy's in all their forms, pandas' arrays of strings and indexes, plain
 * lists.
 */
#pragma once

#include "files/import/pickle_frame.h"

/* Items row by row, in C order whatever the pickle has. */
struct pickle_array {
    struct frame_cell *items; /* owned, as are their texts */
    size_t count;
    size_t shape[2]; /* of one dimension: count and 1; when one is 0, `count` is 0 */
};

/*
 * Reads an array, an index or a list of scalars, and charges `budget` for it.
 * On success `*array` is to be freed by pickle_array_finish(); on failure it holds nothing.
 * Errors: GPUT_ERROR_FORMAT without a useful message (the caller knows what was read),
 * GPUT_ERROR_MEMORY.
 */
int pickle_array_read(
    const struct pickle_value *value, struct pickle_budget *budget, struct pickle_array *array);
void pickle_array_finish(struct pickle_array *array);

/* As above; an integer. */
bool pickle_integer(const struct pickle_value *value, int64_t *integer);
