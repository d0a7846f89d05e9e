/*
 * Sub-tracking files that forked children wrote into the folder of their parent's.
 */
#pragma once

#include <stdint.h>

/*
 * A sentence that names them ("marks-4711.csv" of "marks.csv", with a first mark of process 4711)
 * and says how to include them; NULL when there are none. Files last written before
 * `first_mark_ns`, the epoch time of the first mark of the file at `path`, are of an earlier run
 * and are skipped. The caller frees the text.
 */
char *sub_tracking_children_warning(const char *path, int64_t first_mark_ns);
