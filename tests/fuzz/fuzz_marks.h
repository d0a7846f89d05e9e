/*
 * Reads a file of marks to its end, or to what is refused.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"

#include <stdlib.h>

typedef int open_marks(const char *path, struct sub_tracking_names *names,
    struct sub_tracking_reader **reader, struct gput_error *error);

static inline void fuzz_read_marks(const char *path, open_marks *open_reader)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    struct sub_tracking_mark rows[3];
    size_t count;
    if (open_reader(path, names, &reader, NULL) == GPUT_OK) {
        while (sub_tracking_reader_next(reader, rows, 3, &count, NULL) == GPUT_OK && count > 0)
            for (size_t i = 0; i < count; i++)
                if (rows[i].position > SUB_TRACKING_STOP ||
                    rows[i].name >= sub_tracking_names_count(names))
                    abort();
        sub_tracking_reader_close(reader);
    }
    sub_tracking_names_destroy(names);
}
