#include "analysis/analyze/block_groups.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define WITHOUT_SOURCE "(no source)"
#define WITHOUT_CATEGORY "(no category)"

/* The length of the group in the name of a block, "nvtx" or "nvtx:train"; 0: it has no source. A
 * file and its line, "train.py:12", is not a source. */
static size_t group_length(const char *name, enum gput_grouping grouping)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    if (length == 0 || name[length] != ':' || (name[0] >= '0' && name[0] <= '9'))
        return 0;
    /* A printed or computed name belongs to no library: a slash is part of it. */
    bool has_domains = !(length == 5 && memcmp(name, "token", 5) == 0) &&
                       !(length == 7 && memcmp(name, "derived", 7) == 0);
    const char *slash = strchr(name + length, '/');
    bool is_domain = grouping != GPUT_GROUP_SOURCE && has_domains && slash;
    return is_domain ? (size_t)(slash - name) : length;
}

/* Makes the name of the group of a block: its source, domain or category. NULL without memory. */
static char *group_name(
    const char *name, const struct sub_tracking_labels *labels, enum gput_grouping grouping)
{
    if (grouping == GPUT_GROUP_NONE)
        return strdup(name);
    if (grouping == GPUT_GROUP_CATEGORY) {
        const char *category = sub_tracking_labels_category(labels, name);
        return strdup(category ? category : WITHOUT_CATEGORY);
    }
    size_t length = group_length(name, grouping);
    return length > 0 ? strndup(name, length) : strdup(WITHOUT_SOURCE);
}

struct keyed {
    char *name; /* owned until it is that of a group */
    uint32_t block;
};

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct keyed *)left)->name, ((const struct keyed *)right)->name);
}

int block_groups_init(struct block_groups *groups, const struct call_table *table,
    const struct sub_tracking_labels *labels, enum gput_grouping grouping, struct gput_error *error)
{
    size_t n = table->n_blocks;
    CLEANUP_FREE struct keyed *keys = calloc(n + 1, sizeof *keys);
    *groups = (struct block_groups){.names = calloc(n + 1, sizeof *groups->names),
        .group_of = calloc(n + 1, sizeof *groups->group_of)};
    bool is_complete = keys && groups->names && groups->group_of;
    for (size_t i = 0; is_complete && i < n; i++) {
        const char *name = sub_tracking_names_text(table->names, table->block_names[i]);
        keys[i] = (struct keyed){group_name(name, labels, grouping), (uint32_t)i};
        is_complete = keys[i].name != NULL;
    }
    if (is_complete && n > 0)
        qsort(keys, n, sizeof *keys, by_name);
    for (size_t i = 0; is_complete && i < n; i++) {
        if (i == 0 || strcmp(groups->names[groups->count - 1], keys[i].name) != 0)
            groups->names[groups->count++] = STEAL(keys[i].name);
        groups->group_of[keys[i].block] = (uint32_t)groups->count - 1;
    }
    for (size_t i = 0; keys && i < n; i++)
        free(keys[i].name);
    return is_complete ? GPUT_OK : error_memory(error);
}

void block_groups_finish(struct block_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        free(groups->names[i]);
    free(groups->names);
    free(groups->group_of);
    *groups = (struct block_groups){0};
}
