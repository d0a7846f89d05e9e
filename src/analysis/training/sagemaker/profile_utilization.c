#include "analysis/training/end_index.h"

#include "analysis/training/sagemaker/profile_views.h"
#include "analysis/training/statistics.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const resources[] = {"cpu", "gpu", "memory", "i/o", "network"};
#define RESOURCE_COUNT (sizeof resources / sizeof *resources)

/* Whether a resource was asked for; `all` is the answer if none was named. */
static bool asked_for(const struct gput_profile_options *options, const char *resource, bool all)
{
    return options->n_resources == 0
               ? all
               : text_is_among(resource, options->resources, options->n_resources);
}

int profile_check_resources(const struct gput_profile_options *options, struct gput_error *error)
{
    for (size_t i = 0; i < options->n_resources; i++) {
        if (!text_is_among(options->resources[i], resources, RESOURCE_COUNT))
            return nearest_refuse(
                "cpu, gpu, i/o, memory, network", options->resources[i], "resource", error);
    }
    return GPUT_OK;
}

/* Fails because there are no readings. If the caller passed rows, returns GPUT_OK with an empty
 * table. */
static int report_no_readings(
    const struct gput_profile_options *options, const char *of_all, struct gput_error *error)
{
    char what[64];
    if (options->rows)
        return GPUT_OK;
    snprintf(what, sizeof what, "readings of %s%s",
        options->n_resources == 0   ? of_all
        : options->n_resources == 1 ? options->resources[0]
                                    : "these resources",
        options->by_phase ? " during these training phases" : "");
    return profile_nothing(options, what, error);
}

/* Returns the index of a resource; RESOURCE_COUNT: none. */
static uint32_t resource_of(const struct profile_frame *frame, const struct system_row *row)
{
    const char *type = profile_frame_text(frame, row->type);
    uint32_t resource = 0;
    while (resource < RESOURCE_COUNT && strcmp(resources[resource], type) != 0)
        resource++;
    return resource;
}

#define NO_PHASE UINT32_MAX

/* Intervals of phases in which moments can be looked up. */
struct phase_moments {
    struct phase_intervals intervals; /* in order of their starts */
    struct end_index ends;
};

/* Returns the end of an interval, for the index. */
static int64_t end_of_phase(const void *intervals, size_t place)
{
    return ((const struct phase_interval *)intervals)[place].end_us;
}

/* Makes the intervals of phases and their index. Call phase_moments_finish() also after a
 * failure. */
static int phase_moments_make(struct profile_frame *frame,
    const struct gput_profile_options *options, struct phase_moments *moments,
    struct gput_error *error)
{
    struct phase_intervals *intervals = &moments->intervals;
    *moments = (struct phase_moments){0};
    TRY(phase_intervals_make(frame, options, intervals, error));
    return end_index_make(
        &moments->ends, intervals->intervals, intervals->count, end_of_phase, error);
}

/* Frees the intervals and their index. */
static void phase_moments_finish(struct phase_moments *moments)
{
    end_index_finish(&moments->ends);
    phase_intervals_finish(&moments->intervals);
}

/* Returns the phase of the latest interval that contains a moment. Intervals overlap only where
 * several processes train. */
static uint32_t phase_at(const struct phase_moments *moments, int64_t time_us)
{
    const struct phase_interval *intervals = moments->intervals.intervals;
    size_t after;
    PARTITION_POINT(after, moments->intervals.count, intervals[after].start_us <= time_us);
    size_t place = end_index_find(&moments->ends, 0, after, time_us);
    return place < after ? intervals[place].name : NO_PHASE;
}

/* A reading, and the line of the result that it belongs to. */
struct member {
    uint32_t resource;
    uint32_t node;
    uint32_t dimension; /* 0 unless dimensions are distinguished */
    uint32_t phase;     /* 0 unless phases are distinguished */
    double value;
};

/* Orders members by their line of the result. */
static int compare_lines(const struct member *a, const struct member *b)
{
    const uint32_t x[] = {a->resource, a->node, a->dimension, a->phase};
    const uint32_t y[] = {b->resource, b->node, b->dimension, b->phase};
    for (int i = 0; i < 4; i++)
        ORDER_BY(x[i], y[i]);
    return 0;
}

/* Orders members by line and value, as percentiles need them. */
static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    ORDER_BY_RESULT(compare_lines(a, b));
    return ORDER(a->value, b->value);
}

/* Collects the selected readings, by device and phase. */
static int gather(struct profile_frame *frame, const struct gput_profile_options *options,
    const struct phase_moments *moments, struct row_sorter *members, struct gput_error *error)
{
    const struct system_row *row;
    TRY(profile_frame_first_reading(frame, &row, error));
    while (row) {
        const struct member member = {.resource = resource_of(frame, row),
            .node = row->node,
            .dimension = options->by_dimension ? row->dimension : 0,
            .phase = options->by_phase ? phase_at(moments, row->time_us) : 0,
            .value = row->value};
        if (!isnan(row->value) && member.resource < RESOURCE_COUNT && member.phase != NO_PHASE &&
            asked_for(options, resources[member.resource], true))
            TRY(row_sorter_add(members, &member, error));
        TRY(profile_frame_next_reading(frame, &row, error));
    }
    return GPUT_OK;
}

/* One row of the result. */
struct line {
    struct member key;
    const char *dimension;
    const char *node;
    struct sorted_figures figures;
};

struct lines {
    struct line *all;
    size_t count;
};

/* Frees the lines. */
static void lines_finish(struct lines *lines)
{
    free(lines->all);
}

/* Makes the lines and counts their members, which computing percentiles needs. */
static int count_members(const struct profile_frame *frame, struct row_sorter *members,
    struct lines *lines, struct gput_error *error)
{
    const void *row;
    TRY(row_sorter_first(members, &row, error));
    while (row) {
        const struct member *member = row;
        struct line *line = lines->count > 0 ? lines->all + lines->count - 1 : NULL;
        if (!line || compare_lines(&line->key, member) != 0) {
            if (!ARRAY_EXTEND(lines->all, lines->count))
                return error_memory(error);
            line = lines->all + lines->count++;
            *line = (struct line){.key = *member,
                .dimension = profile_frame_text(frame, member->dimension),
                .node = profile_frame_text(frame, member->node),
                .figures = sorted_figures_of(0)};
        }
        line->figures.count++;
        TRY(row_sorter_next(members, &row, error));
    }
    return GPUT_OK;
}

/* Orders lines as in the result: by resource, node, dimension and time of the phase. */
static int in_order(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    ORDER_BY(a->key.resource, b->key.resource);
    ORDER_BY_TEXT(a->node, b->node);
    ORDER_BY_TEXT(a->dimension, b->dimension);
    return ORDER(a->key.phase, b->key.phase);
}

/* Returns the unit of the lines: percent, unless there are lines of the network. NULL: mixed
 * units. */
static const char *unit_of(const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        if (strcmp(resources[lines->all[i].key.resource], "network") == 0)
            return NULL;
    }
    return "percent";
}

int profile_utilization(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    const struct row_memory memory =
        row_memory_of(options->memory_bytes, options->temporary_folder);
    const struct row_order order = {sizeof(struct member), compare_members, false};
    CLEANUP(phase_moments_finish) struct phase_moments moments = {0};
    CLEANUP(row_sorter_destroy_pointer) struct row_sorter *members = NULL;
    CLEANUP(lines_finish) struct lines lines = {0};
    struct gput_table *table = tables_add(tables, "utilization");
    table_add_column(table, "Resource", GPUT_COLUMN_TEXT);
    if (options->by_dimension)
        table_add_column(table, "dimension", GPUT_COLUMN_TEXT);
    if (options->by_phase)
        table_add_column(table, "Training_phase", GPUT_COLUMN_TEXT);
    table_add_column(table, "nodeID", GPUT_COLUMN_TEXT);
    if (options->by_phase)
        TRY(phase_moments_make(frame, options, &moments, error));
    TRY(row_sorter_create(&memory, &order, &members, error));
    TRY(gather(frame, options, &moments, members, error));
    TRY(count_members(frame, members, &lines, error));

    /* Compute the statistics of each line. */
    const void *row;
    TRY(row_sorter_first(members, &row, error));
    for (size_t i = 0; i < lines.count; i++)
        for (size_t j = 0; j < lines.all[i].figures.count && row; j++) {
            sorted_figures_next(&lines.all[i].figures, ((const struct member *)row)->value);
            TRY(row_sorter_next(members, &row, error));
        }

    if (lines.count == 0)
        return report_no_readings(options, "the system", error);
    figure_summary_add_columns(table, "utilization", "", unit_of(&lines));

    /* Write the lines in order. */
    if (lines.count > 1)
        qsort(lines.all, lines.count, sizeof *lines.all, in_order);
    for (size_t i = 0; i < lines.count; i++) {
        const struct line *line = lines.all + i;
        table_put_text(table, resources[line->key.resource]);
        if (options->by_dimension)
            table_put_text(table, line->dimension);
        if (options->by_phase)
            table_put_text(table, names_text(&moments.intervals.names, line->key.phase));
        table_put_text(table, line->node);
        figure_summary_put(table, &line->figures.summary);
    }

    return GPUT_OK;
}

static const struct gput_profile_range default_ranges[] = {{90, 100}, {10, 90}, {0, 10}};

#define MAX_RANGES 32

/* One row of the result: the readings of a resource of a node, by range. */
struct usage {
    uint32_t resource;
    const char *node;
    int64_t counts[MAX_RANGES + 1]; /* one for each range, then that of readings in no range */
};

struct usages {
    struct usage *all;
    size_t count;
    uint32_t *places[RESOURCE_COUNT]; /* index + 1 in `all`, by number of the node; 0: none */
};

/* Frees the usages. */
static void usages_finish(struct usages *usages)
{
    for (size_t i = 0; i < RESOURCE_COUNT; i++)
        free(usages->places[i]);
    free(usages->all);
}

/* Returns the usage of a resource of a node, adding it when it is new. NULL: out of memory. */
static struct usage *usage_of(
    struct usages *usages, const struct profile_frame *frame, uint32_t resource, uint32_t node)
{
    uint32_t *place = &usages->places[resource][node];
    if (*place == 0) {
        if (!ARRAY_EXTEND(usages->all, usages->count))
            return NULL;
        usages->all[usages->count] =
            (struct usage){.resource = resource, .node = profile_frame_text(frame, node)};
        *place = (uint32_t)++usages->count;
    }
    return usages->all + *place - 1;
}

/* Returns the first range that contains a value; `count`: none. */
static size_t range_of(const struct gput_profile_range *ranges, size_t count, double value)
{
    size_t range = 0;
    while (range < count && !(value >= ranges[range].low && value <= ranges[range].high))
        range++;
    return range;
}

/* Orders usages by resource and node. */
static int by_resource(const void *left, const void *right)
{
    const struct usage *a = left, *b = right;
    ORDER_BY(a->resource, b->resource);
    return strcmp(a->node, b->node);
}

int profile_devices(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    const struct gput_profile_range *ranges = options->n_ranges ? options->ranges : default_ranges;
    size_t n_ranges = options->n_ranges ? options->n_ranges : 3;
    CLEANUP(usages_finish) struct usages usages = {0};
    if (n_ranges > MAX_RANGES)
        return error_set(
            error, GPUT_ERROR_INVALID, "At most %d ranges can be distinguished", MAX_RANGES);
    struct gput_table *table = tables_add(tables, "devices");
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "Resource", "nodeID", NULL);
    for (size_t i = 0; i < n_ranges; i++) {
        char name[64];
        text_fit(name, sizeof name, "(%g, %g)", ranges[i].low, ranges[i].high);
        table_add_column(table, name, GPUT_COLUMN_INT);
    }
    table_add_column(table, "other", GPUT_COLUMN_INT);

    /* Allocate the indexes of all resources. */
    bool made = true;
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        usages.places[i] = calloc(frame->names.count + 1, sizeof *usages.places[i]);
        made = made && usages.places[i];
    }
    if (!made)
        return error_memory(error);

    /* Count the readings of each device in each range. */
    const struct system_row *row;
    TRY(profile_frame_first_reading(frame, &row, error));
    while (row) {
        uint32_t resource = resource_of(frame, row);
        if (resource < RESOURCE_COUNT && asked_for(options, resources[resource], resource < 2)) {
            struct usage *usage = usage_of(&usages, frame, resource, row->node);
            if (!usage)
                return error_memory(error);
            usage->counts[range_of(ranges, n_ranges, row->value)] += !isnan(row->value);
        }
        TRY(profile_frame_next_reading(frame, &row, error));
    }

    if (usages.count == 0)
        return report_no_readings(options, "CPUs and GPUs", error);

    /* Write the number of readings of each device in each range. */
    if (usages.count > 1)
        qsort(usages.all, usages.count, sizeof *usages.all, by_resource);
    for (size_t i = 0; i < usages.count; i++) {
        table_put_text(table, resources[usages.all[i].resource]);
        table_put_text(table, usages.all[i].node);
        for (size_t range = 0; range <= n_ranges; range++)
            table_put_int(table, usages.all[i].counts[range]);
    }

    return GPUT_OK;
}
