/*
 * Lost calls of code blocks: those whose marks could not be written, because the disk was full or
 * the file had reached a limit. A CSV or SQLite file has them as one call, from the first loss to
 * the last, of a block with a name of its own: "[gpu-tracker] lost calls: 0000000012", in combined
 * files also "[gpu-tracker] lost calls: at least 0000000012". So other readers show them as a
 * block. Readers of ours give them apart from the calls.
 */
#pragma once

#include "files/marks/sub_tracking_file.h"

/* Enough for the name, NUL included. */
#define SUB_TRACKING_LOST_NAME_SIZE 64

/*
 * Fills the two rows of lost calls, except the number of their name, and the name. Returns its
 * length. The text of the rows is of one length for any number of calls and any time, so that they
 * can be written over.
 */
size_t sub_tracking_lost_rows(const struct sub_tracking_lost *lost,
    struct sub_tracking_mark rows[2], char name[SUB_TRACKING_LOST_NAME_SIZE]);

/* Whether that is the name of lost calls, and how many they are. Sets `calls` and `at_least`. */
bool sub_tracking_lost_parse(const char *name, size_t length, struct sub_tracking_lost *lost);

/* Adds others: their number, and the time of both. */
void sub_tracking_lost_add(struct sub_tracking_lost *lost, const struct sub_tracking_lost *other);
