#include "files/import/cprofile.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"
#include "base/utf8.h"
#include "files/import/marshal.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A dump that is being read. */
struct adding {
    struct cprofile *profile; /* of this dump only */
    struct marshal marshal;
    const char *name;
    struct gput_error *error;
};

/* Fails because a dump cannot have this value at this place. */
static int no_profile(const struct adding *adding)
{
    return error_set(adding->error, GPUT_ERROR_FORMAT,
        "%s is not a cProfile dump: it holds something else", adding->name);
}

/* Returns an item of a tuple. */
static uint32_t item(const struct adding *adding, const struct marshal_value *tuple, uint32_t i)
{
    return adding->marshal.items[tuple->first + i].value;
}

/* Returns a value as a tuple of `count` items; NULL: it is none. */
static const struct marshal_value *tuple_of(
    const struct adding *adding, uint32_t value, uint32_t count)
{
    const struct marshal_value *found = adding->marshal.values + value;
    return found->kind == MARSHAL_TUPLE && found->count == count ? found : NULL;
}

/* Appends a text of the dump as UTF-8. Returns false if the value is no text. */
static bool append_text(const struct adding *adding, uint32_t value, struct str *out)
{
    const struct marshal_value *found = adding->marshal.values + value;
    if (found->kind != MARSHAL_TEXT)
        return false;
    utf8_append(found->text, found->count, out);
    return true;
}

struct slice {
    const char *text;
    size_t length;
};

/* Identifies a function; `whole` is "file
 *
 * line
 *
 * name". */
struct function_key {
    struct slice whole;
    struct slice file;
    struct slice name;
    int64_t line;
};

/* Returns the number of a function, adding it if it is new. */
static int add_function(struct cprofile *profile, const struct function_key *key, uint32_t *number,
    struct gput_error *error)
{
    *number = names_add(&profile->keys, key->whole.text, key->whole.length);
    if (*number == NAMES_NONE)
        return error_memory(error);
    if (*number < profile->function_count)
        return GPUT_OK;
    if (!ARRAY_EXTEND(profile->functions, *number))
        return error_memory(error);
    struct profiled_function *functions = profile->functions;
    functions[*number] = (struct profiled_function){.line = key->line,
        .file = names_add(&profile->names, key->file.text, key->file.length),
        .name = names_add(&profile->names, key->name.text, key->name.length)};
    if (functions[*number].file == NAMES_NONE || functions[*number].name == NAMES_NONE)
        return error_memory(error);
    profile->function_count = *number + 1;
    return GPUT_OK;
}

/* Returns the number of the function that a key of the dump names: (file, line, name). */
static int find_function(struct adding *adding, uint32_t value, uint32_t *number)
{
    const struct marshal_value *tuple = tuple_of(adding, value, 3);
    CLEANUP_STR struct str text = {0};
    int64_t line;
    if (!tuple || !append_text(adding, item(adding, tuple, 0), &text) ||
        !marshal_int(&adding->marshal, item(adding, tuple, 1), &line))
        return no_profile(adding);
    size_t file_length = text.length;
    str_printf(&text, "\n%" PRId64 "\n", line);
    size_t name_start = text.length;
    if (!append_text(adding, item(adding, tuple, 2), &text))
        return no_profile(adding);
    if (text.failed)
        return error_memory(adding->error);
    const struct function_key key = {.whole = {str_text(&text), text.length},
        .file = {str_text(&text), file_length},
        .name = {str_text(&text) + name_start, text.length - name_start},
        .line = line};
    return add_function(adding->profile, &key, number, adding->error);
}

/* Reads the first four items of a tuple: calls and times. */
static bool read_counts(
    const struct adding *adding, const struct marshal_value *tuple, struct call_counts *counts)
{
    const struct marshal *marshal = &adding->marshal;
    return marshal_int(marshal, item(adding, tuple, 0), &counts->primitive_calls) &&
           marshal_int(marshal, item(adding, tuple, 1), &counts->total_calls) &&
           marshal_double(marshal, item(adding, tuple, 2), &counts->total_seconds) &&
           marshal_double(marshal, item(adding, tuple, 3), &counts->cumulative_seconds);
}

/* Adds calls and times. The number of calls wraps around if it overflows. */
static void add_counts(struct call_counts *sum, const struct call_counts *counts)
{
    sum->primitive_calls =
        (int64_t)((uint64_t)sum->primitive_calls + (uint64_t)counts->primitive_calls);
    sum->total_calls = (int64_t)((uint64_t)sum->total_calls + (uint64_t)counts->total_calls);
    sum->total_seconds += counts->total_seconds;
    sum->cumulative_seconds += counts->cumulative_seconds;
}

/* Adds the calls of one function by another. */
static int add_caller(struct cprofile *profile, uint32_t callee, uint32_t function,
    const struct call_counts *counts, struct gput_error *error)
{
    struct profiled_function *known = profile->functions + callee;
    for (size_t i = 0; i < known->caller_count; i++)
        if (known->callers[i].function == function) {
            add_counts(&known->callers[i].counts, counts);
            return GPUT_OK;
        }
    if (!ARRAY_EXTEND(known->callers, known->caller_count))
        return error_memory(error);
    known->callers[known->caller_count++] = (struct caller){function, *counts};
    return GPUT_OK;
}

/* Adds all callers of a function, from a dict of (file, line, name) and counts. */
static int add_callers(struct adding *adding, uint32_t callee, uint32_t value)
{
    const struct marshal_value *dict = adding->marshal.values + value;
    if (dict->kind != MARSHAL_DICT)
        return no_profile(adding);
    for (uint32_t at = dict->first; at != MARSHAL_END; at = adding->marshal.items[at].next) {
        struct call_counts counts = {0};
        uint32_t caller;
        const struct marshal_value *tuple = tuple_of(adding, adding->marshal.items[at].value, 4);
        if (!tuple || !read_counts(adding, tuple, &counts))
            return no_profile(adding);
        TRY(find_function(adding, adding->marshal.items[at].key, &caller));
        TRY(add_caller(adding->profile, callee, caller, &counts, adding->error));
    }
    return GPUT_OK;
}

/* Assigns a function its place in the order, which is that of the first counts. Functions seen only
 * as callers have none. */
static void count_function(struct cprofile *profile, uint32_t function)
{
    if (!profile->functions[function].counted)
        profile->functions[function].order = profile->counted++;
    profile->functions[function].counted = true;
}

/* Adds a dump: a dict of functions and their counts. */
static int add_all(struct adding *adding)
{
    const struct marshal *marshal = &adding->marshal;
    const struct marshal_value *root = marshal->values + marshal->root;
    if (root->kind != MARSHAL_DICT)
        return no_profile(adding);
    for (uint32_t at = root->first; at != MARSHAL_END; at = marshal->items[at].next) {
        struct call_counts counts;
        uint32_t function;
        const struct marshal_value *tuple = tuple_of(adding, marshal->items[at].value, 5);
        if (!tuple || !read_counts(adding, tuple, &counts))
            return no_profile(adding);
        TRY(find_function(adding, marshal->items[at].key, &function));
        count_function(adding->profile, function);
        add_counts(&adding->profile->functions[function].counts, &counts);
    }
    /* Add callers afterwards, so that functions keep the order of the dump. */
    for (uint32_t at = root->first; at != MARSHAL_END; at = marshal->items[at].next) {
        uint32_t function;
        const struct marshal_value *tuple = tuple_of(adding, marshal->items[at].value, 5);
        TRY(find_function(adding, marshal->items[at].key, &function));
        TRY(add_callers(adding, function, item(adding, tuple, 4)));
    }
    return GPUT_OK;
}

static struct slice slice_of(const struct names *names, uint32_t number)
{
    const char *text = names_text(names, number);
    return (struct slice){text, strlen(text)};
}

/* Adds one profile to another. */
static int add_profile(struct cprofile *sum, const struct cprofile *one, struct gput_error *error)
{
    CLEANUP_FREE uint32_t *numbers = malloc((one->function_count + 1) * sizeof *numbers);
    if (!numbers)
        return error_memory(error);
    for (uint32_t i = 0; i < one->function_count; i++) {
        const struct function_key key = {.whole = slice_of(&one->keys, i),
            .file = slice_of(&one->names, one->functions[i].file),
            .name = slice_of(&one->names, one->functions[i].name),
            .line = one->functions[i].line};
        TRY(add_function(sum, &key, &numbers[i], error));
    }
    for (uint32_t i = 0; i < one->function_count; i++) {
        const struct profiled_function *function = one->functions + i;
        if (function->counted)
            count_function(sum, numbers[i]);
        add_counts(&sum->functions[numbers[i]].counts, &function->counts);
        for (size_t j = 0; j < function->caller_count; j++) {
            const struct caller *caller = function->callers + j;
            TRY(add_caller(sum, numbers[i], numbers[caller->function], &caller->counts, error));
        }
    }
    return GPUT_OK;
}

int cprofile_add(struct cprofile *profile, const void *bytes, size_t length, const char *name,
    struct gput_error *error)
{
    /* Read it separately first, so that no part of a damaged dump gets into the sum. */
    struct cprofile one = {0};
    struct adding adding = {.profile = &one, .name = name, .error = error};
    TRY(marshal_read(bytes, length, name, &adding.marshal, error));
    int code = add_all(&adding);
    marshal_finish(&adding.marshal);
    if (code == GPUT_OK && profile->function_count == 0) {
        cprofile_finish(profile);
        *profile = one;
        return GPUT_OK;
    }
    if (code == GPUT_OK)
        code = add_profile(profile, &one, error);
    cprofile_finish(&one);
    return code;
}

void cprofile_finish(struct cprofile *profile)
{
    for (size_t i = 0; i < profile->function_count; i++)
        free(profile->functions[i].callers);
    free(profile->functions);
    names_finish(&profile->names);
    names_finish(&profile->keys);
    *profile = (struct cprofile){0};
}

/* Returns the figure that functions are sorted by. */
static double figure(const struct call_counts *counts, enum cprofile_order order)
{
    switch (order) {
    case CPROFILE_BY_CUMULATIVE_TIME:
        return counts->cumulative_seconds;
    case CPROFILE_BY_PRIMITIVE_CALLS:
        return (double)counts->primitive_calls;
    case CPROFILE_BY_TOTAL_CALLS:
        return (double)counts->total_calls;
    default:
        return counts->total_seconds;
    }
}

/* A figure with the function's place in the order, so that qsort() keeps the order of equal
 * ones. */
struct place {
    double figure;
    uint32_t order;
    uint32_t function;
};

/* Orders functions by the chosen figure, the largest first. */
static int largest_first(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    ORDER_BY(b->figure, a->figure);
    return ORDER(a->order, b->order);
}

/* Returns the numbers of all counted functions, the largest first. The caller frees them. NULL: out
 * of memory. */
static uint32_t *sort_functions(
    const struct cprofile *profile, enum cprofile_order order, size_t *count)
{
    CLEANUP_FREE struct place *places = malloc((profile->function_count + 1) * sizeof *places);
    uint32_t *functions = malloc((profile->function_count + 1) * sizeof *functions);
    *count = 0;
    if (!places || !functions) {
        free(functions);
        return NULL;
    }
    for (uint32_t i = 0; i < profile->function_count; i++) {
        double value = figure(&profile->functions[i].counts, order);
        if (profile->functions[i].counted)
            places[(*count)++] =
                (struct place){isnan(value) ? -INFINITY : value, profile->functions[i].order, i};
    }
    if (*count > 1)
        qsort(places, *count, sizeof *places, largest_first);
    for (size_t i = 0; i < *count; i++)
        functions[i] = places[i].function;
    return functions;
}

void cprofile_append_name(const struct cprofile *profile, uint32_t function, struct str *text)
{
    const struct profiled_function *known = profile->functions + function;
    const char *file = names_text(&profile->names, known->file);
    const char *name = names_text(&profile->names, known->name);
    size_t length = strlen(name);
    if (strcmp(file, "~") != 0 || known->line != 0)
        str_printf(text, "%s:%" PRId64 "(%s)", file, known->line, name);
    else if (length >= 2 && name[0] == '<' && name[length - 1] == '>')
        str_printf(text, "{%.*s}", (int)(length - 2), name + 1);
    else
        str_append(text, name);
}

int cprofile_print(const struct cprofile *profile, enum cprofile_order order, size_t limit,
    struct str *text, struct gput_error *error)
{
    static const char *const orders[] = {
        "internal time", "cumulative time", "primitive call count", "call count"};
    struct call_counts sum = {0};
    size_t count;
    CLEANUP_FREE uint32_t *functions = sort_functions(profile, order, &count);
    if (!functions)
        return error_memory(error);
    size_t shown = count < limit ? count : limit;
    for (size_t i = 0; i < profile->function_count; i++)
        add_counts(&sum, &profile->functions[i].counts);
    str_printf(text, "         %" PRId64 " function calls ", sum.total_calls);
    if (sum.total_calls != sum.primitive_calls)
        str_printf(text, "(%" PRId64 " primitive calls) ", sum.primitive_calls);
    str_printf(text, "in %.3f seconds\n\n", sum.total_seconds);
    if (shown > 0) {
        str_printf(text, "   Ordered by: %s\n", orders[order]);
        if (shown < count)
            str_printf(text, "   List reduced from %zu to %zu due to restriction <%zu>\n", count,
                shown, limit);
        str_append(
            text, "\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n");
        for (size_t i = 0; i < shown; i++) {
            uint32_t function = functions[i];
            const struct call_counts *counts = &profile->functions[function].counts;
            char calls[64];
            if (counts->total_calls != counts->primitive_calls)
                snprintf(calls, sizeof calls, "%" PRId64 "/%" PRId64, counts->total_calls,
                    counts->primitive_calls);
            else
                snprintf(calls, sizeof calls, "%" PRId64, counts->total_calls);
            str_printf(text, "%9s %8.3f ", calls, counts->total_seconds);
            if (counts->total_calls == 0)
                str_append(text, "         ");
            else
                str_printf(text, "%8.3f ", counts->total_seconds / (double)counts->total_calls);
            str_printf(text, "%8.3f ", counts->cumulative_seconds);
            if (counts->primitive_calls == 0)
                str_append(text, "         ");
            else
                str_printf(
                    text, "%8.3f ", counts->cumulative_seconds / (double)counts->primitive_calls);
            cprofile_append_name(profile, function, text);
            str_append_char(text, '\n');
        }
    }
    str_append(text, "\n\n");
    return text->failed ? error_memory(error) : GPUT_OK;
}

/* Adds the columns that put_counts() fills. */
static void add_count_columns(struct gput_table *table)
{
    table_add_columns_of(table, GPUT_COLUMN_INT, "prim_calls", "total_calls", NULL);
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "total_time", "cumulative_time", NULL);
}

/* Writes the cells of calls and seconds. */
static void put_counts(const struct call_counts *counts, struct gput_table *table)
{
    table_put_int(table, counts->primitive_calls);
    table_put_int(table, counts->total_calls);
    table_put_double(table, counts->total_seconds);
    table_put_double(table, counts->cumulative_seconds);
}

int cprofile_put(const struct cprofile *profile, enum cprofile_order order, size_t limit,
    struct gput_tables *tables, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    size_t count;
    CLEANUP_FREE uint32_t *functions = sort_functions(profile, order, &count);
    if (!functions)
        return error_memory(error);
    struct gput_table *table = tables_add(tables, "functions");
    table_add_column(table, "function_name", GPUT_COLUMN_TEXT);
    add_count_columns(table);
    table_add_column(table, "callers", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < count && i < limit; i++) {
        const struct profiled_function *function = profile->functions + functions[i];
        str_clear(&text);
        cprofile_append_name(profile, functions[i], &text);
        table_put_str(table, &text);
        put_counts(&function->counts, table);
        str_clear(&text);
        for (size_t j = 0; j < function->caller_count; j++) {
            str_append(&text, j > 0 ? ", " : "");
            cprofile_append_name(profile, function->callers[j].function, &text);
        }
        table_put_str(table, &text);
    }
    return text.failed ? error_memory(error) : GPUT_OK;
}

int cprofile_put_all(
    const struct cprofile *profile, struct gput_tables *tables, struct gput_error *error)
{
    size_t count = profile->function_count;
    CLEANUP_FREE uint32_t *functions = malloc((count + 1) * sizeof *functions); /* function of each
                                                                                   row */
    CLEANUP_FREE uint32_t *rows = malloc((count + 1) * sizeof *rows); /* row of each function */
    if (!functions || !rows)
        return error_memory(error);

    /* First the functions in the order of the dumps, then those that are only known as callers. */
    uint32_t uncounted = profile->counted;
    for (uint32_t i = 0; i < count; i++) {
        const struct profiled_function *function = profile->functions + i;
        rows[i] = function->counted ? function->order : uncounted++;
        functions[rows[i]] = i;
    }

    struct gput_table *table = tables_add(tables, "functions");
    table_add_column(table, "file", GPUT_COLUMN_TEXT);
    table_add_column(table, "line", GPUT_COLUMN_INT);
    table_add_column(table, "name", GPUT_COLUMN_TEXT);
    add_count_columns(table);
    for (uint32_t row = 0; row < count; row++) {
        const struct profiled_function *function = profile->functions + functions[row];
        table_put_text(table, names_text(&profile->names, function->file));
        table_put_int(table, function->line);
        table_put_text(table, names_text(&profile->names, function->name));
        if (function->counted)
            put_counts(&function->counts, table);
        for (int i = 0; !function->counted && i < 4; i++)
            table_put_missing(table);
    }

    table = tables_add(tables, "callers");
    table_add_columns_of(table, GPUT_COLUMN_INT, "function", "caller", NULL);
    add_count_columns(table);
    for (uint32_t row = 0; row < profile->counted; row++) {
        const struct profiled_function *function = profile->functions + functions[row];
        for (size_t i = 0; i < function->caller_count; i++) {
            table_put_int(table, row);
            table_put_int(table, rows[function->callers[i].function]);
            put_counts(&function->callers[i].counts, table);
        }
    }
    return GPUT_OK;
}
