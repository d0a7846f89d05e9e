#include "profile/profile_views.h"
#include "profile/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const resources[] = {"cpu", "gpu", "memory", "i/o", "network"};
#define RESOURCE_COUNT (sizeof resources / sizeof *resources)

static bool asked_for(const struct gput_profile_options *options, const char *resource, bool all)
{
    for (size_t i = 0; i < options->resource_count; i++)
        if (strcmp(options->resources[i], resource) == 0)
            return true;
    return options->resource_count == 0 && all;
}

static int check_resources(const struct gput_profile_options *options, struct gput_error *error)
{
    for (size_t i = 0; i < options->resource_count; i++) {
        bool known = false;
        for (size_t j = 0; j < RESOURCE_COUNT; j++)
            known = known || strcmp(options->resources[i], resources[j]) == 0;
        if (!known)
            return error_set(error, GPUT_ERROR_INVALID,
                "\"%s\" is not a valid resource. Valid values are cpu, gpu, i/o, memory, network",
                options->resources[i]);
    }
    return GPUT_OK;
}

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The different texts of one column of the rows of a resource, sorted. The array is the caller's.
 * NULL without memory. */
static const char **distinct(
    const struct profile_frame *frame, uint32_t resource, bool of_dimensions, size_t *count)
{
    bool *seen = calloc(frame->names.count + 1, sizeof *seen);
    const char **texts = calloc(frame->names.count + 1, sizeof *texts);
    *count = 0;
    for (size_t i = 0; seen && texts && i < frame->system_count; i++) {
        const struct system_row *row = frame->system + i;
        uint32_t text = of_dimensions ? row->dimension : row->node;
        if (row->type != resource || seen[text])
            continue;
        seen[text] = true;
        texts[(*count)++] = profile_frame_text(frame, text);
    }
    if (texts && *count > 1)
        qsort(texts, *count, sizeof *texts, compare_texts);
    if (!seen) {
        free(texts);
        texts = NULL;
    }
    free(seen);
    return texts;
}

/* The training phase of each reading. */
struct phases {
    const char **names; /* in the order in which they first come */
    size_t count;       /* 0: they are not told apart */
    size_t *of_reading; /* a place in `names`, or NO_PHASE */
};

#define NO_PHASE SIZE_MAX

/* The last of the intervals, which are in order of their begins, that holds a moment. They overlap
 * only where several processes train: looking back over a few is enough. */
static size_t interval_of(const struct phase_intervals *intervals, int64_t time_us)
{
    size_t low = 0, high = intervals->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (intervals->intervals[middle].start_us <= time_us)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 0; back < 64 && low > back; back++)
        if (intervals->intervals[low - back - 1].end_us >= time_us)
            return low - back - 1;
    return NO_PHASE;
}

static size_t number_of(struct phases *phases, const char *name)
{
    for (size_t i = 0; i < phases->count; i++)
        if (strcmp(phases->names[i], name) == 0)
            return i;
    phases->names[phases->count] = name;
    return phases->count++;
}

/* The names stay the intervals'. To be finished, also after a failure. */
static int phases_make(const struct profile_frame *frame, const struct phase_intervals *intervals,
    struct phases *phases, struct gput_error *error)
{
    size_t *numbers = calloc(intervals->count + 1, sizeof *numbers);
    *phases = (struct phases){.names = calloc(intervals->count + 1, sizeof *phases->names),
        .of_reading = calloc(frame->system_count + 1, sizeof *phases->of_reading)};
    bool ready = numbers && phases->names && phases->of_reading;
    for (size_t i = 0; ready && i < intervals->count; i++)
        numbers[i] = number_of(phases, intervals->intervals[i].name);
    for (size_t i = 0; ready && i < frame->system_count; i++) {
        size_t interval = interval_of(intervals, frame->system[i].time_us);
        phases->of_reading[i] = interval == NO_PHASE ? NO_PHASE : numbers[interval];
    }
    free(numbers);
    return ready ? GPUT_OK : error_memory(error);
}

static void phases_finish(struct phases *phases)
{
    free(phases->names);
    free(phases->of_reading);
}

/* Which readings a line of the result is made of. */
struct line {
    const char *resource;
    const char *dimension; /* NULL: all */
    const char *node;
    size_t phase; /* NO_PHASE: the whole time */
};

static bool counts(const struct profile_frame *frame, const struct phases *phases,
    const struct line *line, size_t reading)
{
    const struct system_row *row = frame->system + reading;
    return !isnan(row->value) &&
           strcmp(profile_frame_text(frame, row->type), line->resource) == 0 &&
           strcmp(profile_frame_text(frame, row->node), line->node) == 0 &&
           (!line->dimension ||
               strcmp(profile_frame_text(frame, row->dimension), line->dimension) == 0) &&
           (line->phase == NO_PHASE || phases->of_reading[reading] == line->phase);
}

static int put_line(const struct profile_frame *frame, const struct phases *phases,
    const struct line *line, struct gput_table *table, struct gput_error *error)
{
    struct figures figures = {0};
    bool kept = true;
    for (size_t i = 0; kept && i < frame->system_count; i++)
        if (counts(frame, phases, line, i))
            kept = figures_add(&figures, frame->system[i].value);
    if (kept && figures.count > 0) {
        table_put_text(table, line->resource);
        if (line->dimension)
            table_put_text(table, line->dimension);
        if (line->phase != NO_PHASE)
            table_put_text(table, phases->names[line->phase]);
        table_put_text(table, line->node);
        figures_put(table, &figures);
    }
    figures_finish(&figures);
    return kept ? GPUT_OK : error_memory(error);
}

/* One line, or one for each training phase. */
static int put_phases(const struct profile_frame *frame, const struct phases *phases,
    struct line line, struct gput_table *table, struct gput_error *error)
{
    if (phases->count == 0)
        return put_line(frame, phases, &line, table, error);
    for (line.phase = 0; line.phase < phases->count; line.phase++)
        TRY(put_line(frame, phases, &line, table, error));
    return GPUT_OK;
}

static int put_resource(const struct profile_frame *frame, const char *resource, bool by_dimension,
    const struct phases *phases, struct gput_table *table, struct gput_error *error)
{
    size_t node_count, dimension_count = 0;
    uint32_t type = names_find(&frame->names, resource, strlen(resource));
    const char **nodes = distinct(frame, type, false, &node_count);
    const char **dimensions = distinct(frame, type, true, &dimension_count);
    int code = nodes && dimensions ? GPUT_OK : error_memory(error);
    for (size_t i = 0; code == GPUT_OK && i < node_count; i++) {
        struct line line = {.resource = resource, .node = nodes[i], .phase = NO_PHASE};
        if (!by_dimension)
            code = put_phases(frame, phases, line, table, error);
        for (size_t j = 0; by_dimension && code == GPUT_OK && j < dimension_count; j++) {
            line.dimension = dimensions[j];
            code = put_phases(frame, phases, line, table, error);
        }
    }
    free(nodes);
    free(dimensions);
    return code;
}

int profile_utilization(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct phase_intervals intervals = {0};
    struct phases phases = {0};
    TRY(check_resources(options, error));
    struct gput_table *table = tables_add(tables, "utilization");
    table_add_column(table, "Resource", GPUT_COLUMN_TEXT);
    if (options->by_dimension)
        table_add_column(table, "dimension", GPUT_COLUMN_TEXT);
    if (options->by_phase)
        table_add_column(table, "Training_phase", GPUT_COLUMN_TEXT);
    table_add_column(table, "nodeID", GPUT_COLUMN_TEXT);
    figures_add_columns(table, "utilization", "");
    int code =
        options->by_phase ? phase_intervals_make(frame, options, &intervals, error) : GPUT_OK;
    if (code == GPUT_OK)
        code = phases_make(frame, &intervals, &phases, error);
    for (size_t i = 0; code == GPUT_OK && i < RESOURCE_COUNT; i++)
        if (asked_for(options, resources[i], true))
            code = put_resource(frame, resources[i], options->by_dimension, &phases, table, error);
    phases_finish(&phases);
    phase_intervals_finish(&intervals);
    return code;
}

static const struct gput_range default_ranges[] = {{90, 100}, {10, 90}, {0, 10}};

static void put_counts(const struct profile_frame *frame, uint32_t type, const char *node,
    const struct gput_range *ranges, size_t range_count, struct gput_table *table)
{
    int64_t counts[33] = {0};
    for (size_t i = 0; i < frame->system_count; i++) {
        const struct system_row *row = frame->system + i;
        size_t range = 0;
        if (row->type != type || isnan(row->value) ||
            strcmp(profile_frame_text(frame, row->node), node) != 0)
            continue;
        while (range < range_count &&
               !(row->value >= ranges[range].low && row->value <= ranges[range].high))
            range++;
        counts[range]++;
    }
    table_put_text(table, profile_frame_text(frame, type));
    table_put_text(table, node);
    for (size_t i = 0; i <= range_count; i++)
        table_put_int(table, counts[i]);
}

int profile_devices(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    const struct gput_range *ranges = options->range_count ? options->ranges : default_ranges;
    size_t range_count = options->range_count ? options->range_count : 3;
    TRY(check_resources(options, error));
    struct gput_table *table = tables_add(tables, "devices");
    table_add_column(table, "Resource", GPUT_COLUMN_TEXT);
    table_add_column(table, "nodeID", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < range_count; i++) {
        char name[64];
        snprintf(name, sizeof name, "(%g, %g)", ranges[i].low, ranges[i].high);
        table_add_column(table, name, GPUT_COLUMN_INT);
    }
    table_add_column(table, "other", GPUT_COLUMN_INT);
    for (size_t i = 0; i < RESOURCE_COUNT; i++) {
        size_t node_count;
        uint32_t type = names_find(&frame->names, resources[i], strlen(resources[i]));
        if (!asked_for(options, resources[i], i < 2) || type == NAMES_NONE)
            continue;
        const char **nodes = distinct(frame, type, false, &node_count);
        if (!nodes)
            return error_memory(error);
        for (size_t node = 0; node < node_count; node++)
            put_counts(frame, type, nodes[node], ranges, range_count, table);
        free(nodes);
    }
    return GPUT_OK;
}
