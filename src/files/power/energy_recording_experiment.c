/*
 * results_exp.json: results of an experiment by epoch. Several forms are read:
 *
 *     [{"epoch": 1, "accuracy": 0.8, "end_training_epoch": DATE}, …]
 *     {"1": {"accuracy": 0.8, "end_training_epoch": DATE}, …}
 *     {"accuracy": [0.8, …], "end_training_epoch": [DATE, …]}
 *     {"accuracy": {"dates": [DATE, …], "values": [0.8, …]}, …}
 *
 * A DATE is one as in power_metrics.json, or seconds since the epoch.
 */
#include "files/power/energy_recording.h"
#include "files/power/recording_date.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool read_date(const struct doc *value, int64_t *time_us)
{
    if (!value)
        return false;
    if (value->kind == DOC_STRING)
        return recording_date_parse(value->string, time_us);
    double seconds = doc_number(value);
    if (!(fabs(seconds) < 9e9))
        return false;
    *time_us = recording_date_of_epoch_ns((int64_t)(seconds * 1e6) * 1000);
    return true;
}

static const char date_key[] = "end_training_epoch";

/* A row of an epoch. */
static int add_epoch(
    struct recorded_series *series, const struct doc *epoch, struct gput_error *error)
{
    int64_t time_us;
    if (epoch->kind != DOC_OBJECT || !read_date(doc_get(epoch, date_key), &time_us))
        return GPUT_OK;
    TRY(recorded_series_add(series, time_us, 0, error));
    for (const struct doc *value = epoch->first; value; value = value->next) {
        double number = doc_number(value);
        if (strcmp(value->key, date_key) != 0 && !isnan(number))
            TRY(recorded_series_set(series, "experiment", value->key, NULL, number, error));
    }
    return GPUT_OK;
}

/* Adds the next item of every column; items without a date are skipped. */
static int add_row(struct recorded_series *series, const struct doc *columns,
    const struct doc **items, const struct doc *date, struct gput_error *error)
{
    int64_t time_us;
    bool has_date = read_date(date, &time_us);
    if (has_date)
        TRY(recorded_series_add(series, time_us, 0, error));
    for (const struct doc *column = columns->first; column; column = column->next, items++) {
        const struct doc *item = *items;
        double number = doc_number(item);
        if (has_date && !isnan(number))
            TRY(recorded_series_set(series, "experiment", column->key, NULL, number, error));
        *items = item ? item->next : NULL;
    }
    return GPUT_OK;
}

static int add_columns(
    struct recorded_series *series, const struct doc *columns, struct gput_error *error)
{
    const struct doc *dates = doc_get(columns, date_key);
    const struct doc **items = calloc(columns->count, sizeof *items); /* the next of each */
    size_t i = 0;
    int code = GPUT_OK;
    if (!items)
        return error_memory(error);
    for (const struct doc *column = columns->first; column; column = column->next, i++)
        items[i] = column->kind == DOC_ARRAY && column != dates ? column->first : NULL;
    for (const struct doc *date = dates->first; date && code == GPUT_OK; date = date->next)
        code = add_row(series, columns, items, date, error);
    free(items);
    return code;
}

static int add_curve(struct recorded_series *series, const struct doc *curve, uint32_t segment,
    struct gput_error *error)
{
    const struct doc *dates = doc_get(curve, "dates"), *values = doc_get(curve, "values");
    const struct doc *value = values && values->kind == DOC_ARRAY ? values->first : NULL;
    const struct doc *date = dates && dates->kind == DOC_ARRAY ? dates->first : NULL;
    int64_t time_us;
    for (; date && value; date = date->next, value = value->next) {
        double number = doc_number(value);
        if (!read_date(date, &time_us) || isnan(number))
            continue;
        TRY(recorded_series_add(series, time_us, segment, error));
        TRY(recorded_series_set(series, "experiment", curve->key, NULL, number, error));
    }
    return GPUT_OK;
}

int energy_recording_read_experiment(struct energy_record *record, struct gput_error *error)
{
    struct recorded_series *series = &record->series[RECORDED_EXPERIMENT];
    const struct doc *root = record->experiment;
    if (root->kind == DOC_ARRAY) {
        for (const struct doc *epoch = root->first; epoch; epoch = epoch->next)
            TRY(add_epoch(series, epoch, error));
        return GPUT_OK;
    }
    if (root->kind != DOC_OBJECT)
        return GPUT_OK;
    const struct doc *dates = doc_get(root, date_key);
    if (dates && dates->kind == DOC_ARRAY)
        return add_columns(series, root, error);
    /* Each curve has its own moments: a segment each. */
    uint32_t segment = 0;
    for (const struct doc *child = root->first; child; child = child->next) {
        if (child->kind == DOC_OBJECT && doc_get(child, date_key))
            TRY(add_epoch(series, child, error));
        else if (child->kind == DOC_OBJECT)
            TRY(add_curve(series, child, segment++, error));
    }
    return GPUT_OK;
}
