/*
 * What marks say of their processes, threads and blocks: the rank of a process in its parallel job,
 * the names that a program gives to threads, and the categories of regions. A file has each as one
 * call without a duration, of a block with a name of its own: "[gpu-tracker] rank: 3",
 * "[gpu-tracker] thread 4713: loader", "[gpu-tracker] category: nvtx:train [phase]". So other
 * readers show them as blocks. Readers of ours give them apart from the calls.
 */
#pragma once

#include "base/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Space for the name of such a block, with its final 0; longer names of threads are cut. */
#define SUB_TRACKING_LABEL_SIZE 1100

struct sub_tracking_label {
    int64_t process_id;
    int64_t thread_id;    /* -1: it is the rank of the process; -2: a category */
    int64_t rank;         /* -1: it is not a rank */
    int64_t timestamp_ns; /* later ones replace earlier ones */
    char *thread_name;    /* owned; NULL: not a thread's label */
    const char *category; /* "nvtx:train [phase]"; NULL: not a category */
};

/* All zero: none. */
struct sub_tracking_labels {
    struct sub_tracking_label *items;
    size_t count, capacity;
    struct names categories; /* each is one item, of its first process */
    bool is_sorted;
};

/* The names of blocks that say so. */
void sub_tracking_label_rank(int64_t rank, char name[SUB_TRACKING_LABEL_SIZE]);
void sub_tracking_label_thread(
    int64_t thread_id, const char *thread_name, char name[SUB_TRACKING_LABEL_SIZE]);
void sub_tracking_label_category(const char *category, char name[SUB_TRACKING_LABEL_SIZE]);

/* Whether the name of a block says such a thing, which is set in the label, except the process and
 * the time; its name is part of the given one. */
bool sub_tracking_label_parse(const char *name, size_t length, struct sub_tracking_label *label);

/* Adds a copy. False without memory. */
bool sub_tracking_labels_add(
    struct sub_tracking_labels *labels, const struct sub_tracking_label *label);

/* The rank of a process, -1: not known; the name of a thread, NULL: it has none. */
int64_t sub_tracking_labels_rank(struct sub_tracking_labels *labels, int64_t process_id);
const char *sub_tracking_labels_thread(
    struct sub_tracking_labels *labels, int64_t process_id, int64_t thread_id);

/* The category in the name of a block, "nvtx:train [phase]" of "nvtx:train/step [phase]", and of
 * itself. NULL: it has none. Valid as long as the labels. */
const char *sub_tracking_labels_category(
    const struct sub_tracking_labels *labels, const char *block_name);

void sub_tracking_labels_finish(struct sub_tracking_labels *labels);

/*
 * ---- Categories ----
 *
 * The category of a region is a part of its name, "nvtx:train/step [phase]", or its number,
 * "nvtx:train/step [7]". A label says which brackets are categories: names end in others, too.
 */

#define REGION_CATEGORY_SIZE 1024

/*
 * The domain and the category that the name of a region may have: "nvtx:train [phase]" of
 * "nvtx:train/step [phase]", and of itself. Longer ones are cut. False: it ends in no bracket.
 */
bool region_category_of(const char *name, char category[REGION_CATEGORY_SIZE]);

/* The bracket with which the last part of a name begins; NULL: it ends in none. */
const char *region_category_find(const char *name);

/* The category alone, "phase" of "nvtx:train [phase]", up to the last character. */
const char *region_category_text(const char *category, size_t *length);
