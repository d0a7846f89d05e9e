#include "model/results_identity.h"

#include "base/number.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* No job has as many ranks. */
#define MAX_RANK_DIGITS 7

static bool is_in(const char *path, const char *section)
{
    return path && text_begins_with(path, section);
}

static bool is_identity(const struct results_column *column)
{
    return is_in(column->path, "identity.") || is_in(column->path, "job.") ||
           is_in(column->path, "allowed.") || is_in(column->path, "files.");
}

/* True for figures of the whole session and its machine. Left out are the sources of peaks and
 * energy, and what has a column of its own (lost rows). */
static bool is_figure(const struct results_column *column)
{
    static const char *const sections[] = {"static_data.", "max.", "mean.", "peaks.", "gpu_peaks.",
        "accounting.", "energy.", "tracker."};
    const char *name = column->description.name;
    bool is_figure = strcmp(name, "elapsed_seconds") == 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        is_figure |= text_begins_with(name, sections[i]);
    return is_figure && !is_identity(column) &&
           (column->kind <= RESULTS_FLAG || is_in(column->path, "accounting.")) &&
           strcmp(name, "tracker.rows_lost") != 0;
}

/* Names a column after its path and unit: "allowed.ram" is allowed_ram_bytes. */
static void name_column(struct results_identity_column *named)
{
    const struct results_column *column = named->column;
    const char *name = column->description.name, *unit = column->description.unit;
    bool is_size = !named->is_figure && column->shown == SHOWN_RAM;
    if (!named->is_figure)
        name = is_in(column->path, "allowed.") ? column->path : strchr(column->path, '.') + 1;
    else if (is_in(name, "max.") || is_in(name, "mean."))
        is_size = unit && strcmp(unit, "bytes") == 0;
    snprintf(named->name, sizeof named->name, "%s%s", name, is_size ? "_bytes" : "");
    for (char *at = named->name; *at; at++)
        *at = *at == '.' ? '_' : *at;
}

/* Adds the columns of the results that are figures, or those that identify the session. */
static size_t add_columns(
    struct results_identity_column *columns, size_t count, size_t capacity, bool are_figures)
{
    size_t n_lists;
    const struct results_list *record = results_lists(&n_lists);
    for (size_t i = 0; i < record->n_columns && count < capacity; i++) {
        const struct results_column *column = &record->columns[i];
        if (!(are_figures ? is_figure(column) : is_identity(column)))
            continue;
        columns[count] =
            (struct results_identity_column){.column = column, .is_figure = are_figures};
        name_column(&columns[count++]);
    }
    return count;
}

size_t results_identity_columns(struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS])
{
    return add_columns(columns, 0, RESULTS_IDENTITY_COLUMNS, false);
}

size_t results_session_columns(struct results_identity_column columns[RESULTS_SESSION_COLUMNS])
{
    size_t count = add_columns(columns, 0, RESULTS_SESSION_COLUMNS, false);
    return add_columns(columns, count, RESULTS_SESSION_COLUMNS, true);
}

/* Adds figures, or the identity, to an object, except for members that it already has. */
static void add_all(const struct gput_results *results, bool are_figures, struct doc *object)
{
    struct results_identity_column columns[RESULTS_SESSION_COLUMNS];
    size_t count = add_columns(columns, 0, RESULTS_SESSION_COLUMNS, are_figures);
    for (size_t i = 0; i < count; i++) {
        if (!doc_get(object, columns[i].name)) {
            const struct results_identity_column *identity = &columns[i];
            const struct results_column *column = identity->column;
            double number = results_column_number(column, results);
            const char *text = results_column_text(column, results);
            bool is_whole = number == floor(number) && fabs(number) < 0x1p53;
            if (column->kind == RESULTS_TEXT && *text)
                doc_add_string(object, identity->name, text);
            else if (column->kind != RESULTS_TEXT && is_whole)
                doc_add_int(object, identity->name, (int64_t)number);
            else if (column->kind != RESULTS_TEXT && isfinite(number))
                doc_add_double(object, identity->name, number);
        }
    }
}

void results_identity_add(const struct gput_results *results, struct doc *object)
{
    add_all(results, false, object);
}

void results_figures_add(const struct gput_results *results, struct doc *object)
{
    add_all(results, true, object);
}

void results_identity_read(const struct doc *object, struct gput_results *results)
{
    struct results_identity_column columns[RESULTS_SESSION_COLUMNS];
    size_t count = results_session_columns(columns);
    for (size_t i = 0; i < count; i++) {
        const struct results_column *column = columns[i].column;
        const struct doc *value = doc_get(object, columns[i].name);
        if (value && value->kind == DOC_STRING && column->kind == RESULTS_TEXT)
            results_column_set_text(column, results, value->string, strlen(value->string));
        else if (!isnan(doc_number(value)))
            results_column_set_number(column, results, doc_number(value));
    }
}

/* "2026-01-31T23:59:59.123456Z" */
double results_identity_seconds(const char *time)
{
    struct tm utc = {0};
    double fraction = 0;
    const char *rest = strptime(time, "%Y-%m-%dT%H:%M:%S", &utc);
    if (!rest || (*rest == '.' && !number_parse_double(rest, rest + strlen(rest), &fraction)))
        return NAN;
    return (double)timegm(&utc) + fraction;
}

/* ---- Names of files ---- */

/* Returns the number after a word, with at most one of "-_.=" or a blank between; NaN: none. */
static double number_after(const char *at)
{
    uint64_t number;
    if (*at && strchr("-_.= ", *at))
        at++;
    size_t digits = strspn(at, "0123456789");
    bool is_number = digits <= MAX_RANK_DIGITS && !isalnum((unsigned char)at[digits]) &&
                     number_parse_uint64(at, at + digits, &number);
    return is_number ? (double)number : NAN;
}

double results_identity_rank_of(const char *name)
{
    static const char *const words[] = {"rank", "r"};
    double rank = NAN;
    for (const char *at = name; *at; at++) {
        if (at > name && isalnum((unsigned char)at[-1]))
            continue;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            double number =
                text_begins_with(at, words[i]) ? number_after(at + strlen(words[i])) : NAN;
            rank = isnan(number) ? rank : number;
        }
    }
    return rank;
}
