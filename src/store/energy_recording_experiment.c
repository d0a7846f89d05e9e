/*
 * results_exp.json: what an experiment reached, epoch by epoch. Several forms are taken:
 *
 *     [{"epoch": 1, "accuracy": 0.8, "end_training_epoch": DATE}, …]
 *     {"accuracy": [0.8, …], "end_training_epoch": [DATE, …]}
 *     {"accuracy": {"dates": [DATE, …], "values": [0.8, …]}, …}
 *
 * A DATE is one as in power_metrics.json, or seconds since the epoch.
 */
#include "store/energy_recording.h"
#include "store/recording_date.h"

#include <math.h>
#include <string.h>

static bool read_date(const struct doc *value, int64_t *time_us)
{
    if (!value)
        return false;
    if (value->kind == DOC_STRING)
        return recording_date_parse(value->string, time_us);
    double seconds = value->kind == DOC_DOUBLE ? value->number
                     : value->kind == DOC_INT  ? (double)value->integer
                                               : NAN;
    if (!(fabs(seconds) < 9e9))
        return false;
    *time_us = recording_date_of_epoch_ns((int64_t)(seconds * 1e6) * 1000);
    return true;
}

static bool read_number(const struct doc *value, double *number)
{
    if (value->kind != DOC_DOUBLE && value->kind != DOC_INT)
        return false;
    *number = value->kind == DOC_DOUBLE ? value->number : (double)value->integer;
    return true;
}

static const char date_key[] = "end_training_epoch";

/* A row of an epoch. */
static int add_epoch(
    struct recorded_series *series, const struct doc *epoch, struct gput_error *error)
{
    int64_t time_us;
    double number;
    if (epoch->kind != DOC_OBJECT || !read_date(doc_get(epoch, date_key), &time_us))
        return GPUT_OK;
    TRY(recorded_series_add(series, time_us, 0, error));
    for (const struct doc *value = epoch->first; value; value = value->next) {
        if (strcmp(value->key, date_key) != 0 && read_number(value, &number))
            TRY(recorded_series_set(series, "experiment", value->key, number, error));
    }
    return GPUT_OK;
}

/* The item of that number, or NULL. */
static const struct doc *item_at(const struct doc *array, size_t index)
{
    const struct doc *item = array && array->kind == DOC_ARRAY ? array->first : NULL;
    while (item && index-- > 0)
        item = item->next;
    return item;
}

static int add_columns(
    struct recorded_series *series, const struct doc *columns, struct gput_error *error)
{
    const struct doc *dates = doc_get(columns, date_key);
    int64_t time_us;
    double number;
    size_t i = 0;
    for (const struct doc *date = dates->first; date; date = date->next, i++) {
        if (!read_date(date, &time_us))
            continue;
        TRY(recorded_series_add(series, time_us, 0, error));
        for (const struct doc *column = columns->first; column; column = column->next) {
            const struct doc *item = column == dates ? NULL : item_at(column, i);
            if (item && read_number(item, &number))
                TRY(recorded_series_set(series, "experiment", column->key, number, error));
        }
    }
    return GPUT_OK;
}

static int add_curve(struct recorded_series *series, const struct doc *curve, uint32_t segment,
    struct gput_error *error)
{
    const struct doc *dates = doc_get(curve, "dates"), *values = doc_get(curve, "values");
    const struct doc *value = values && values->kind == DOC_ARRAY ? values->first : NULL;
    const struct doc *date = dates && dates->kind == DOC_ARRAY ? dates->first : NULL;
    int64_t time_us;
    double number;
    for (; date && value; date = date->next, value = value->next) {
        if (!read_date(date, &time_us) || !read_number(value, &number))
            continue;
        TRY(recorded_series_add(series, time_us, segment, error));
        TRY(recorded_series_set(series, "experiment", curve->key, number, error));
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
    /* Curves have moments of their own: nothing is to be drawn from one to the next. */
    uint32_t segment = 0;
    for (const struct doc *child = root->first; child; child = child->next) {
        if (child->kind == DOC_OBJECT)
            TRY(add_curve(series, child, segment++, error));
    }
    return GPUT_OK;
}
