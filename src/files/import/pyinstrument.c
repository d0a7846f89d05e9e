#include "files/import/pyinstrument.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number of the function of a frame, "file:line(function)". NAMES_NONE: out of
 * memory. */
static uint32_t find_function(struct pyinstrument *sum, const struct doc *frame)
{
    CLEANUP_STR struct str text = {0};
    const char *file = doc_string(doc_get(frame, "file_path_short"));
    const char *name = doc_string(doc_get(frame, "function"));
    double line = doc_get_number(frame, "line_no");
    if (!file)
        file = doc_string(doc_get(frame, "file_path"));
    str_printf(&text, "%s:%" PRId64 "(%s)", file ? file : "?",
        line >= 0 && line < 1e15 ? (int64_t)line : 0, name ? name : "?");
    uint32_t number = names_add(&sum->functions, str_text(&text), text.length);
    if (number == NAMES_NONE || number < sum->count)
        return number;
    if (!ARRAY_EXTEND(sum->times, sum->count))
        return NAMES_NONE;
    sum->times[number] = (struct pyinstrument_function){0};
    sum->count = number + 1;
    return number;
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

static bool add_children(struct pyinstrument *sum, const struct doc *frame, double *seconds);

/* Adds a frame and all below it, as deep as a document can be. Adds its time to `*seconds`. Returns
 * false without memory. */
static bool add_frame(struct pyinstrument *sum, const struct doc *frame, double *seconds)
{
    /* Skip a frame that is no function: "[self]", "[await]" or "[out-of-context]", which is time of
     * the frame above outside of its calls, or "[root]", which is above all. */
    const char *name = doc_get_string(frame, "function");
    size_t length = strlen(name);
    if (length > 1 && name[0] == '[' && name[length - 1] == ']')
        return add_children(sum, frame, seconds);

    double total = or_zero(doc_get_number(frame, "time")), below = 0;
    uint32_t function = find_function(sum, frame);
    if (function == NAMES_NONE)
        return false;
    double start = sum->at;
    if (sum->visit)
        sum->visit(sum->user, names_text(&sum->functions, function), start, total);
    *seconds += total;
    if (sum->times[function].open++ == 0)
        sum->times[function].total_seconds += total;
    if (!add_children(sum, frame, &below))
        return false;
    sum->at = start + total;
    sum->times[function].open--;
    sum->times[function].self_seconds += total > below ? total - below : 0;
    return true;
}

/* Adds the frames below a frame. Adds the time of their functions to `*seconds`. */
static bool add_children(struct pyinstrument *sum, const struct doc *frame, double *seconds)
{
    const struct doc *children = doc_get(frame, "children");
    if (children && children->kind == DOC_ARRAY)
        for (const struct doc *child = children->first; child; child = child->next)
            if (child->kind == DOC_OBJECT && !add_frame(sum, child, seconds))
                return false;
    return true;
}

bool pyinstrument_is_saved(const char *text, size_t length)
{
    static const char key[] = "\"start_call_stack\"", frames[] = "\"root_frame\"";
    return memmem(text, length, key, sizeof key - 1) &&
           !memmem(text, length, frames, sizeof frames - 1);
}

int pyinstrument_refuse_saved(const char *name, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_FORMAT,
        "%s is a saved session of pyinstrument, which only pyinstrument can read. "
        "'pyinstrument --load FILE.pyisession -r json -o FILE.json' makes a file that is read here",
        name);
}

int pyinstrument_add(struct pyinstrument *sum, const char *text, size_t length, const char *name,
    struct gput_error *error)
{
    struct doc *session;
    if (pyinstrument_is_saved(text, length)) /* its texts may have NUL */
        return pyinstrument_refuse_saved(name, error);
    TRY(doc_read_json(text, length, name, &session, error));
    const struct doc *root = session->kind == DOC_OBJECT ? doc_get(session, "root_frame") : NULL;
    double seconds = 0;
    int code = GPUT_OK;
    if (!root)
        code = error_set(
            error, GPUT_ERROR_FORMAT, "%s is not a session of pyinstrument: no root_frame", name);
    else if (root->kind == DOC_OBJECT && !add_frame(sum, root, &seconds))
        code = error_memory(error);
    if (code == GPUT_OK) {
        double samples = doc_get_number(session, "sample_count");
        sum->sessions++;
        sum->samples += samples >= 0 && samples < 1e15 ? (int64_t)samples : 0;
        sum->duration_seconds += or_zero(doc_get_number(session, "duration"));
        sum->cpu_seconds += or_zero(doc_get_number(session, "cpu_time"));
    }
    doc_destroy(session);
    return code;
}

struct place {
    double seconds;
    uint32_t function;
};

/* Orders functions by their time, the longest first. */
static int longest_first(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    ORDER_BY(b->seconds, a->seconds);
    return ORDER(a->function, b->function);
}

int pyinstrument_put(const struct pyinstrument *sum, bool by_total, size_t limit,
    struct gput_tables *tables, struct gput_error *error)
{
    CLEANUP_FREE struct place *places = malloc((sum->count + 1) * sizeof *places);
    if (!places)
        return error_memory(error);
    for (uint32_t i = 0; i < sum->count; i++)
        places[i] =
            (struct place){by_total ? sum->times[i].total_seconds : sum->times[i].self_seconds, i};
    if (sum->count > 1)
        qsort(places, sum->count, sizeof *places, longest_first);

    struct gput_table *table = tables_add_record(tables, "session");
    table_add_columns_of(table, GPUT_COLUMN_INT, "sessions", "sample_count", NULL);
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "duration", "cpu_time", NULL);
    table_put_int(table, sum->sessions);
    table_put_int(table, sum->samples);
    table_put_double(table, sum->duration_seconds);
    table_put_double(table, sum->cpu_seconds);

    table = tables_add(tables, "functions");
    table_add_column(table, "function_name", GPUT_COLUMN_TEXT);
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "total_time", "cumulative_time", NULL);
    for (size_t i = 0; i < sum->count && i < limit; i++) {
        const struct pyinstrument_function *times = sum->times + places[i].function;
        table_put_text(table, names_text(&sum->functions, places[i].function));
        table_put_double(table, times->self_seconds);
        table_put_double(table, times->total_seconds);
    }
    return GPUT_OK;
}

void pyinstrument_finish(struct pyinstrument *sum)
{
    names_finish(&sum->functions);
    free(sum->times);
    *sum = (struct pyinstrument){0};
}
