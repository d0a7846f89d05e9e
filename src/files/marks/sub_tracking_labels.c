#include "files/marks/sub_tracking_labels.h"

#include "base/array.h"
#include "base/number.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANK "[gpu-tracker] rank: "
#define THREAD "[gpu-tracker] thread "
#define CATEGORY "[gpu-tracker] category: "

enum { OF_CATEGORY = -2 }; /* in place of a thread */

void sub_tracking_label_rank(int64_t rank, char name[SUB_TRACKING_LABEL_SIZE])
{
    snprintf(name, SUB_TRACKING_LABEL_SIZE, RANK "%" PRId64, rank);
}

void sub_tracking_label_thread(
    int64_t thread_id, const char *thread_name, char name[SUB_TRACKING_LABEL_SIZE])
{
    snprintf(name, SUB_TRACKING_LABEL_SIZE, THREAD "%" PRId64 ": %.190s", thread_id, thread_name);
}

void sub_tracking_label_category(const char *category, char name[SUB_TRACKING_LABEL_SIZE])
{
    snprintf(name, SUB_TRACKING_LABEL_SIZE, CATEGORY "%.*s", REGION_CATEGORY_SIZE, category);
}

/* Returns what follows that beginning; NULL: the text begins otherwise. */
static const char *after(const char *text, const char *end, const char *beginning)
{
    size_t length = strlen(beginning);
    bool fits = (size_t)(end - text) > length && memcmp(text, beginning, length) == 0;
    return fits ? text + length : NULL;
}

bool sub_tracking_label_parse(const char *name, size_t length, struct sub_tracking_label *label)
{
    const char *end = name + length;
    const char *rank = after(name, end, RANK), *thread = after(name, end, THREAD);
    const char *category = after(name, end, CATEGORY);
    *label = (struct sub_tracking_label){.thread_id = -1, .rank = -1, .category = category};
    if (category)
        return label->thread_id = OF_CATEGORY, true;
    if (rank)
        return number_parse_int64(rank, end, &label->rank) == end && label->rank >= 0;
    const char *text = thread ? number_parse_int64(thread, end, &label->thread_id) : NULL;
    text = text && label->thread_id >= 0 ? after(text, end, ": ") : NULL;
    label->thread_name = (char *)text;
    return text != NULL;
}

bool sub_tracking_labels_add(
    struct sub_tracking_labels *labels, const struct sub_tracking_label *label)
{
    struct sub_tracking_label copy = *label;
    if (label->category) {
        uint32_t before = labels->categories.count;
        uint32_t number = names_add(&labels->categories, label->category, strlen(label->category));
        if (number == NAMES_NONE || number < before)
            return number != NAMES_NONE;
        copy.category = names_text(&labels->categories, number);
    }
    if (copy.thread_name && !(copy.thread_name = strdup(copy.thread_name)))
        return false;
    if (!ARRAY_RESERVE(labels->items, labels->count, labels->capacity)) {
        free(copy.thread_name);
        return false;
    }
    labels->items[labels->count++] = copy;
    labels->is_sorted = false;
    return true;
}

static int compare_keys(const struct sub_tracking_label *a, const struct sub_tracking_label *b)
{
    ORDER_BY(a->process_id, b->process_id);
    return ORDER(a->thread_id, b->thread_id);
}

/* Sorts labels by process and thread, and those of one by time. */
static int by_key_and_time(const void *left, const void *right)
{
    const struct sub_tracking_label *a = left, *b = right;
    ORDER_BY_RESULT(compare_keys(a, b));
    return ORDER(a->timestamp_ns, b->timestamp_ns);
}

/* Finds the last label of that process and thread; NULL: there is none. */
static const struct sub_tracking_label *find(
    struct sub_tracking_labels *labels, int64_t process_id, int64_t thread_id)
{
    struct sub_tracking_label key = {.process_id = process_id, .thread_id = thread_id};
    size_t after;
    if (!labels->is_sorted && labels->count > 0)
        qsort(labels->items, labels->count, sizeof *labels->items, by_key_and_time);
    labels->is_sorted = true;
    PARTITION_POINT(after, labels->count, compare_keys(&labels->items[after], &key) <= 0);
    bool is_found = after > 0 && compare_keys(&labels->items[after - 1], &key) == 0;
    return is_found ? &labels->items[after - 1] : NULL;
}

int64_t sub_tracking_labels_rank(struct sub_tracking_labels *labels, int64_t process_id)
{
    const struct sub_tracking_label *label = find(labels, process_id, -1);
    return label ? label->rank : -1;
}

const char *sub_tracking_labels_thread(
    struct sub_tracking_labels *labels, int64_t process_id, int64_t thread_id)
{
    const struct sub_tracking_label *label =
        thread_id >= 0 ? find(labels, process_id, thread_id) : NULL;
    return label ? label->thread_name : NULL;
}

const char *sub_tracking_labels_category(
    const struct sub_tracking_labels *labels, const char *block_name)
{
    char category[REGION_CATEGORY_SIZE];
    if (labels->categories.count == 0 || !region_category_of(block_name, category))
        return NULL;
    uint32_t number = names_find(&labels->categories, category, strlen(category));
    return number != NAMES_NONE ? names_text(&labels->categories, number) : NULL;
}

void sub_tracking_labels_finish(struct sub_tracking_labels *labels)
{
    names_finish(&labels->categories);
    for (size_t i = 0; i < labels->count; i++)
        free(labels->items[i].thread_name);
    free(labels->items);
    *labels = (struct sub_tracking_labels){0};
}

/* ---- Categories ---- */

const char *region_category_find(const char *name)
{
    const char *end = strrchr(name, ']');
    const char *bracket = end && end[1] == '\0' ? strrchr(name, '[') : NULL;
    bool is_last = bracket && bracket > name && bracket[-1] == ' ' && bracket + 1 < end &&
                   strchr(bracket, ']') == end;
    return is_last ? bracket : NULL;
}

bool region_category_of(const char *name, char category[REGION_CATEGORY_SIZE])
{
    const char *bracket = region_category_find(name);
    if (!bracket)
        return false;
    size_t before = (size_t)(bracket - 1 - name);
    const char *slash = memchr(name, '/', before);
    int domain = (int)(slash ? (size_t)(slash - name) : before);
    snprintf(category, REGION_CATEGORY_SIZE, "%.*s %s", domain, name, bracket);
    return true;
}

const char *region_category_text(const char *category, size_t *length)
{
    const char *bracket = region_category_find(category);
    *length = bracket ? strlen(bracket) - 2 : 0;
    return bracket ? bracket + 1 : NULL;
}
