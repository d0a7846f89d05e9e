#include "analysis/training/pytorch/kineto_diff.h"

#include "analysis/training/pytorch/kineto_categories.h"
#include "analysis/training/pytorch/kineto_merged.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/names.h"
#include "base/order.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* All events of one category and name, on both sides. */
struct side_by_side {
    int64_t count[2];
    int64_t total_ns[2];
};

struct comparing {
    struct names keys; /* "category\nname" */
    struct side_by_side *sums;
    size_t count;
    struct str text;
    struct kineto_ranks ranks[2];
    int side; /* the side that is being read */
};

/* Adds up an event under its name and category. */
static int add_event(void *user, struct kineto_merged *file, const struct trace_event *event,
    struct gput_error *error)
{
    struct comparing *comparing = user;
    if (!event->has_duration || event->duration_ns < 0 || event->name.kind != JSON_STRING) {
        file->unusable++;
        return GPUT_OK;
    }
    struct str *text = &comparing->text;
    str_clear(text);
    const struct kineto_category *category = kineto_category_find(&event->category);
    if (category)
        str_append(text, category->name); /* one name for all versions of PyTorch, so that two
                                             versions can be compared */
    else if (event->category.kind == JSON_STRING)
        json_append_string(&event->category, text);
    str_append_char(text, '\n');
    json_append_string(&event->name, text);
    uint32_t key = names_add(&comparing->keys, str_text(text), text->length);
    if (text->failed || key == NAMES_NONE)
        return error_memory(error);
    if (key == comparing->count) {
        if (!ARRAY_EXTEND(comparing->sums, comparing->count))
            return error_memory(error);
        comparing->sums[comparing->count++] = (struct side_by_side){0};
    }
    comparing->sums[key].count[comparing->side]++;
    comparing->sums[key].total_ns[comparing->side] += event->duration_ns;
    return GPUT_OK;
}

struct place {
    int64_t change_ns; /* absolute change */
    uint32_t key;
};

/* Orders names by how much they differ, the largest change first. */
static int by_change_descending(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    ORDER_BY(b->change_ns, a->change_ns);
    return ORDER(a->key, b->key);
}

/* Writes how a name differs between the two sides. */
static void put_row(const struct comparing *comparing, uint32_t key, struct gput_table *table)
{
    const struct side_by_side *sums = comparing->sums + key;
    const char *text = names_text(&comparing->keys, key), *name = strchr(text, '\n') + 1;
    char category[64];
    size_t length = (size_t)(name - text) - 1;
    length = length < sizeof category ? length : sizeof category - 1;
    memcpy(category, text, length);
    category[length] = '\0';
    table_put_text(table, category);
    table_put_text(table, name);
    table_put_int(table, sums->count[0]);
    table_put_int(table, sums->count[1]);
    table_put_int(table, sums->count[1] - sums->count[0]);
    table_put_double(table, (double)sums->total_ns[0] / 1000);
    table_put_double(table, (double)sums->total_ns[1] / 1000);
    table_put_double(table, (double)(sums->total_ns[1] - sums->total_ns[0]) / 1000);
}

/* Frees the members of a comparison. */
static void comparing_finish(struct comparing *comparing)
{
    for (int side = 0; side < 2; side++)
        kineto_ranks_finish(&comparing->ranks[side]);
    names_finish(&comparing->keys);
    free(comparing->sums);
    str_finish(&comparing->text);
}

int kineto_diff(const struct gput_kineto_options *options, struct gput_tables *tables,
    struct read_report *report, struct gput_error *error)
{
    CLEANUP(comparing_finish) struct comparing comparing = {0};

    /* Read the traces of both sides. */
    for (int side = 0; side < 2; side++)
        TRY(kineto_ranks_add(&comparing.ranks[side], options->paths[side], report, error));
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < comparing.ranks[side].count; i++)
            read_report_expect(report, comparing.ranks[side].all[i].path);
    for (comparing.side = 0; comparing.side < 2; comparing.side++) {
        struct kineto_ranks *ranks = &comparing.ranks[comparing.side];
        const uint32_t files = ranks->count; /* a merged file adds further ranks */
        for (uint32_t i = 0; i < files; i++)
            TRY(kineto_merged_read(ranks, i, add_event, &comparing, report, error));
    }

    if (comparing.keys.count == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Neither side has events with a duration");

    /* Warn of odd ranks on each side. A trace that was named itself is compared without the other
     * ranks, so these are not missing. */
    for (int side = 0; side < 2; side++) {
        const struct kineto_ranks *ranks = comparing.ranks + side;
        struct str where = {0};
        kineto_ranks_warn_of_impossible(ranks, report);
        kineto_ranks_warn_of_repeated(ranks, report);
        str_printf(&where, " in %s", options->paths[side]);
        if (!where.failed && strcmp(ranks->all[0].path, options->paths[side]) != 0)
            kineto_ranks_warn_of_missing(ranks, str_text(&where), report);
        str_finish(&where);
    }
    kineto_ranks_warn_of_difference(&comparing.ranks[0], &comparing.ranks[1], report);

    /* Write the names that differ the most. */
    uint32_t count = comparing.keys.count;
    CLEANUP_FREE struct place *places = malloc((count + 1) * sizeof *places);
    struct gput_table *table = tables_add(tables, "diff");
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "category", "name", NULL);
    table_add_columns_of(table, GPUT_COLUMN_INT, "count_a", "count_b", "count_change", NULL);
    table_add_columns_of(
        table, GPUT_COLUMN_DOUBLE, "total_a_us", "total_b_us", "total_change_us", NULL);
    if (!places)
        return error_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        const struct side_by_side *sums = comparing.sums + i;
        int64_t change = sums->total_ns[1] - sums->total_ns[0];
        places[i] = (struct place){change < 0 ? -change : change, i};
    }
    qsort(places, count, sizeof *places, by_change_descending);
    for (uint32_t i = 0; i < count && (options->limit == 0 || i < options->limit); i++)
        put_row(&comparing, places[i].key, table);
    return GPUT_OK;
}
