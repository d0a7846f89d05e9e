/*
 * Files of code blocks that forked children wrote next to that of their parent.
 */
#ifndef FORMATS_MARKS_SUB_TRACKING_CHILDREN_H
#define FORMATS_MARKS_SUB_TRACKING_CHILDREN_H

#include <stdint.h>

/*
 * One sentence that names them ("marks-4711.csv" of "marks.csv", with a first mark of process 4711)
 * and says how to take them in; NULL when there are none. Those last written before
 * `first_mark_ns`, the epoch time of the first mark of the file at `path`, are of an earlier run
 * and do not count. The caller frees it.
 */
char *sub_tracking_children_warning(const char *path, int64_t first_mark_ns);

#endif
