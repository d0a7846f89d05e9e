#include "model/results_identity.h"

#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static bool is_in(const struct results_column *column, const char *section)
{
    return column->path && text_begins_with(column->path, section);
}

static bool is_identity(const struct results_column *column)
{
    return is_in(column, "identity.") || is_in(column, "job.") || is_in(column, "allowed.");
}

size_t results_identity_columns(struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS])
{
    size_t n_lists, count = 0;
    const struct results_list *record = results_lists(&n_lists);
    for (size_t i = 0; i < record->n_columns && count < RESULTS_IDENTITY_COLUMNS; i++) {
        const struct results_column *column = &record->columns[i];
        if (!is_identity(column))
            continue;
        columns[count].column = column;
        snprintf(columns[count].name, sizeof columns[count].name, "%s%s%s",
            is_in(column, "allowed.") ? "allowed_" : "", strchr(column->path, '.') + 1,
            column->shown == SHOWN_RAM ? "_bytes" : "");
        count++;
    }
    return count;
}

static void add(const struct results_identity_column *identity, const struct gput_results *results,
    struct doc *object)
{
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

void results_identity_add(const struct gput_results *results, struct doc *object)
{
    struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS];
    size_t count = results_identity_columns(columns);
    for (size_t i = 0; i < count; i++) {
        if (!doc_get(object, columns[i].name))
            add(&columns[i], results, object);
    }
}

void results_identity_read(const struct doc *object, struct gput_results *results)
{
    struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS];
    size_t count = results_identity_columns(columns);
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
