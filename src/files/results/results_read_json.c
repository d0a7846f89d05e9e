#include "files/results/results_read_json.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/number.h"
#include "base/text.h"
#include "model/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The lines of a report ---- */

struct line_list {
    struct results_line *lines;
    size_t count;
    bool failed;
};

/* Adds a line to the list. */
static void add_line(void *user, const struct results_line *line)
{
    struct line_list *list = user;
    if (ARRAY_EXTEND(list->lines, list->count))
        list->lines[list->count++] = *line;
    else
        list->failed = true;
}

int results_line_table_init(struct results_line_table *table, struct gput_error *error)
{
    struct line_list list = {0};
    table->first[0] = 0;
    for (size_t i = 0; i < RESULTS_SECTION_COUNT; i++) {
        results_lines_visit(&results_sections[i], add_line, &list);
        table->first[i + 1] = list.count;
    }
    table->lines = list.lines;
    return !list.failed ? GPUT_OK : error_memory(error);
}

void results_line_table_finish(struct results_line_table *table)
{
    free(table->lines);
    table->lines = NULL;
}

/* ---- Values ---- */

/* A document that is read, and its destination. */
struct reading {
    const struct results_line_table *table;
    struct gput_results *results;
    struct str text; /* of the value that is being read */
};

/* A number; NaN for anything else. */
static double number_of(const struct json_value *value)
{
    double number;
    return value->kind == JSON_NUMBER && json_double(value, &number) ? number : NAN;
}

/* A text, valid until the next one is asked for; "" for anything else. */
static const char *text_of(struct reading *reading, const struct json_value *value)
{
    str_clear(&reading->text);
    if (value->kind == JSON_STRING)
        json_append_string(value, &reading->text);
    return str_text(&reading->text);
}

/* The text of a member of an object, likewise. */
static const char *member_text(
    struct reading *reading, const struct json_value *object, const char *key)
{
    struct json_value value = json_member(object, key);
    return text_of(reading, &value);
}

static double member_number(const struct json_value *object, const char *key)
{
    struct json_value value = json_member(object, key);
    return number_of(&value);
}

/* Sets a column of an item. A count that is missing is 0. */
static void read_value(struct reading *reading, const struct json_value *value,
    const struct results_column *column, enum results_shown shown, void *item)
{
    double number = number_of(value);
    if (column->kind == RESULTS_TEXT) {
        const char *text = text_of(reading, value);
        results_column_set_text(column, item, text, strlen(text));
    } else if (column->kind == RESULTS_FLAG) {
        results_column_set_number(column, item, value->kind == JSON_TRUE);
    } else if (column->kind == RESULTS_DOUBLE) {
        results_column_set_number(
            column, item, results_from_shown(reading->results, shown, number));
    } else {
        results_column_set_number(column, item, isnan(number) || number < 0 ? 0 : number);
    }
}

/* ---- Sections ---- */

/* Whether a line is of that part of its section, and has that key. */
static bool is_line(
    const struct results_line *line, const struct json_value *part, const struct json_value *key)
{
    bool is_part = part ? line->part && line->part_length == part->length &&
                              memcmp(line->part, part->text, part->length) == 0
                        : !line->part;
    return is_part && strncmp(line->key, key->text, key->length) == 0 && !line->key[key->length];
}

/* Reads the members of a section, or of a part of it. They are in the order of the lines as a rule:
 * the search begins after the line of the one before. */
static void read_members(struct reading *reading, size_t section, const struct json_value *object,
    const struct json_value *part, size_t *next)
{
    struct json_value key, value;
    struct json_walk walk = json_walk(object);
    size_t first = reading->table->first[section];
    size_t count = reading->table->first[section + 1] - first;
    while (object->kind == JSON_OBJECT && json_walk_member(&walk, &key, &value)) {
        if (!part && value.kind == JSON_OBJECT)
            read_members(reading, section, &value, &key, next);
        for (size_t i = 0; i < count; i++) {
            size_t at = (*next + i) % count;
            const struct results_line *line = &reading->table->lines[first + at];
            if (!is_line(line, part, &key))
                continue;
            read_value(reading, &value, line->column, line->shown, reading->results);
            *next = at + 1;
            break;
        }
    }
}

/* ---- Lists ---- */

/* Reads the sources, with their states and reasons. */
static int read_sources(
    struct reading *reading, const struct json_value *sources, struct gput_error *error)
{
    struct json_value key, source;
    struct json_walk walk = json_walk(sources);
    while (sources->kind == JSON_OBJECT && json_walk_member(&walk, &key, &source)) {
        struct json_value word = json_member(&source, "state");
        for (int state = GPUT_SOURCE_EXACT; state <= GPUT_SOURCE_UNAVAILABLE; state++) {
            char name[sizeof reading->results->sources->name];
            if (!json_is(&word, gput_source_state_name(state)))
                continue;
            text_fit(name, sizeof name, "%s", text_of(reading, &key));
            if (!results_add_source(reading->results, name, (enum gput_source_state)state, "%s",
                    member_text(reading, &source, "reason")))
                return error_set(error, GPUT_ERROR_INVALID,
                    "\"sources\" has more than %d members, which no report has", GPUT_MAX_SOURCES);
        }
    }
    return GPUT_OK;
}

/* Reads the columns of one GPU. Older reports have no "selected": their GPUs count. */
static void read_gpu(struct reading *reading, const struct json_value *object, struct gput_gpu *gpu)
{
    const struct results_list *list = results_gpu_list();
    memset(gpu, 0, sizeof *gpu);
    for (const struct results_column *column = list->columns;
         column < list->columns + list->n_columns; column++) {
        struct json_value value = {.kind = JSON_NONE};
        if (column->path)
            value = json_member(object, column->path);
        if (column->kind == RESULTS_FLAG && value.kind == JSON_NONE)
            value.kind = JSON_TRUE;
        read_value(reading, &value, column, column->shown, gpu);
    }
}

/* Reads the list of GPUs. */
static int read_gpus(
    struct reading *reading, const struct json_value *gpus, struct gput_error *error)
{
    struct json_value gpu;
    struct gput_results *results = reading->results;
    struct json_walk walk = json_walk(gpus);
    size_t count = 0;
    while (gpus->kind == JSON_ARRAY && json_walk_item(&walk, &gpu))
        count += gpu.kind == JSON_OBJECT;
    if (count > 0 && results_reserve_gpus(results, count) != GPUT_OK)
        return error_memory(error);
    walk = json_walk(gpus);
    while (results->n_gpus < count && json_walk_item(&walk, &gpu)) {
        if (gpu.kind == JSON_OBJECT)
            read_gpu(reading, &gpu, &results->gpus[results->n_gpus++]);
    }
    return GPUT_OK;
}

/* Reads one limit that was exceeded. */
static void read_limit(
    struct reading *reading, const struct json_value *object, struct gput_limit_passed *limit)
{
    const char *kind = member_text(reading, object, "kind");
    snprintf(limit->kind_name, sizeof limit->kind_name, "%s", kind);
    limit->value = results_from_shown(
        reading->results, results_limit_shown(kind), member_number(object, "value"));
    limit->at_seconds = member_number(object, "at_seconds");
    limit->enforced = json_member(object, "enforced").kind == JSON_TRUE;
}

/* Reads the further limits that were exceeded. */
static void read_later_limits(struct reading *reading, const struct json_value *list)
{
    struct json_value item;
    struct gput_results *results = reading->results;
    struct json_walk walk = json_walk(list);
    while (list->kind == JSON_ARRAY && json_walk_item(&walk, &item)) {
        if (item.kind == JSON_OBJECT && results->n_later_limits < GPUT_LIMIT_KIND_COUNT - 1)
            read_limit(reading, &item, &results->later_limits[results->n_later_limits++]);
    }
}

/* Adds up the time in calls in which a rank waits for others, or moves data to them. */
static void read_mpi_seconds(struct reading *reading, const struct json_value *regions)
{
    static const char *const kinds[] = {"mpi:collective/", "mpi:point-to-point/", "mpi:wait/"};
    struct gput_results *results = reading->results;
    struct json_value blocks = json_member(regions, "code_blocks"), block;
    struct json_walk walk = json_walk(&blocks);
    while (blocks.kind == JSON_ARRAY && json_walk_item(&walk, &block)) {
        const char *name = member_text(reading, &block, "name");
        struct json_value time = json_member(&block, "compute_time");
        if (!text_begins_with(name, "mpi:"))
            continue;
        number_add_known(&results->mpi_seconds, 0); /* there are such regions */
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
            if (text_begins_with(name, kinds[i]))
                number_add_known(&results->mpi_seconds, member_number(&time, "total"));
        }
    }
}

/* ---- The report ---- */

/* Fills in the figures that a report lacks which the Python package made of an older
 * gpu_tracker's pickle. */
static void complete_older(struct gput_results *results)
{
    static const char reason[] = "not in this file";
    const struct gput_peak unknown = {NAN, NAN, "not in this file"};
    results->peaks.main = results->peaks.descendants = results->peaks.combined = unknown;
    results->peaks.control_group = results->peaks.limit_group = unknown;
    text_fit(results->accounting.processes_missed_reason,
        sizeof results->accounting.processes_missed_reason, reason);
    text_fit(results->accounting.oom_killed_reason, sizeof results->accounting.oom_killed_reason,
        reason);
}

/* The members of a report. */
enum { LIMIT_PASSED, LATER_LIMITS, SOURCES, GPUS, REGIONS, OTHER_MEMBERS };
static const char *const other_names[OTHER_MEMBERS] = {
    "limit_passed", "limits_passed_later", "sources", "gpus", "regions"};

struct members {
    struct json_value sections[RESULTS_SECTION_COUNT];
    struct json_value others[OTHER_MEMBERS];
    bool has_identity;
};

/* The section of that name; RESULTS_SECTION_COUNT: it is none. */
static size_t find_section(const char *name, size_t length)
{
    size_t i = 0;
    while (i < RESULTS_SECTION_COUNT &&
           (strncmp(results_sections[i].key, name, length) != 0 || results_sections[i].key[length]))
        i++;
    return i;
}

static const struct json_value *section_of(const struct members *members, const char *name)
{
    return &members->sections[find_section(name, strlen(name))];
}

/* Finds the members of a report. Errors: GPUT_ERROR_FORMAT (no JSON). */
static int find_members(
    const char *text, size_t length, bool is_identity_only, struct members *members)
{
    const char *at = json_skip_space(text), *end = text + length;
    const size_t last_of_identity = find_section("files", 5);
    bool is_last = false;
    struct json_value key, value;
    if (at >= end || *at != '{')
        return GPUT_ERROR_FORMAT;
    at = json_skip_space(at + 1);
    if (at < end && *at == '}') {
        is_last = true;
        at++;
    }
    while (!is_last) {
        if (json_scan_member(&at, end, &key, &value, &is_last) != JSON_OK)
            return GPUT_ERROR_FORMAT;
        at = json_skip_space(at);
        size_t section = find_section(key.text, key.length);
        if (section < RESULTS_SECTION_COUNT)
            members->sections[section] = value;
        for (int i = 0; i < OTHER_MEMBERS; i++) {
            if (json_is(&key, other_names[i]))
                members->others[i] = value;
        }
        members->has_identity |= json_is(&key, "identity");
        if (is_identity_only && members->has_identity && section < RESULTS_SECTION_COUNT &&
            section >= last_of_identity)
            return GPUT_OK;
    }
    return json_skip_space(at) == end ? GPUT_OK : GPUT_ERROR_FORMAT;
}

/* Reads the units in which the sections have their figures. */
static int read_units(
    struct reading *reading, const struct members *members, struct gput_error *error)
{
    struct gput_static_data *data = &reading->results->static_data;
    const struct json_value *ram = section_of(members, "max_ram");
    const struct json_value *gpu_ram = section_of(members, "max_gpu_ram");
    const struct json_value *time = section_of(members, "compute_time");
    const struct json_value *energy = section_of(members, "energy");
    TRY(ram_unit_parse(member_text(reading, ram, "unit"), "RAM", &data->ram_unit, error));
    TRY(time_unit_parse(member_text(reading, time, "unit"), &data->time_unit, error));
    data->gpu_ram_unit = data->ram_unit;
    if (gpu_ram->kind == JSON_OBJECT)
        TRY(ram_unit_parse(
            member_text(reading, gpu_ram, "unit"), "GPU RAM", &data->gpu_ram_unit, error));
    if (energy->kind == JSON_OBJECT)
        TRY(energy_unit_parse(
            member_text(reading, energy, "unit"), &reading->results->energy.unit, error));
    return GPUT_OK;
}

/* Reads the sections of a report, then the members that are no section. */
static int read_report(
    struct reading *reading, const struct members *members, struct gput_error *error)
{
    const struct json_value *others = members->others;
    TRY(read_units(reading, members, error));
    results_forget(reading->results); /* what no line has */
    for (size_t i = 0; i < RESULTS_SECTION_COUNT; i++) {
        size_t next = 0;
        read_members(reading, i, &members->sections[i], NULL, &next);
    }
    if (others[LIMIT_PASSED].kind == JSON_OBJECT)
        read_limit(reading, &others[LIMIT_PASSED], &reading->results->limit);
    read_later_limits(reading, &others[LATER_LIMITS]);
    read_mpi_seconds(reading, &others[REGIONS]);
    TRY(read_sources(reading, &others[SOURCES], error));
    if (!results_are_own(reading->results))
        complete_older(reading->results);
    TRY(read_gpus(reading, &others[GPUS], error));
    return reading->text.failed ? error_memory(error) : GPUT_OK;
}

int results_read_json(const struct results_line_table *table, const char *text, size_t length,
    bool is_identity_only, struct gput_results *results, struct gput_error *error)
{
    struct reading reading = {.table = table, .results = results};
    struct members members = {.has_identity = false};
    TRY(find_members(text, length, is_identity_only, &members));
    if (section_of(&members, "max_ram")->kind != JSON_OBJECT ||
        section_of(&members, "compute_time")->kind != JSON_OBJECT)
        return GPUT_ERROR_UNSUPPORTED;
    int code = read_report(&reading, &members, error);
    str_finish(&reading.text);
    return code;
}
