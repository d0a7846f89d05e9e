#include "views/report/document/report_column.h"

#include <math.h>
#include <string.h>

/* Beyond this not every whole number is a double. */
#define MAX_STEPS 9007199254740992.0
#define MAX_VARINT 10

void report_column_init(struct report_column *column, struct report_spool *spool, double step)
{
    *column = (struct report_column){.step = step, .min = NAN, .max = NAN, .constant = NAN};
    report_bytes_init(&column->bytes, spool);
    report_bytes_init(&column->missing, spool);
}

void report_column_finish(struct report_column *column)
{
    report_bytes_finish(&column->bytes);
    report_bytes_finish(&column->missing);
}

bool report_column_fits(const struct report_column *column, double value)
{
    if (isnan(value))
        return true;
    return isfinite(value) &&
           (column->step == REPORT_DOUBLES || fabs(value / column->step) <= MAX_STEPS);
}

/* ---- Missing rows ---- */

/* Adds the bit of row `count`. Before the first missing row there are none. */
static int add_missing_bit(struct report_column *column, bool missing, struct gput_error *error)
{
    unsigned bit = column->count % 8;
    if (!missing && column->missing_count == 0)
        return GPUT_OK;
    if (missing && column->missing_count == 0)
        TRY(report_bytes_add_zeros(&column->missing, column->count / 8, error));
    column->missing_count += missing;
    column->missing_byte |= (unsigned char)(missing << bit);
    if (bit < 7)
        return GPUT_OK;
    unsigned char full = column->missing_byte;
    column->missing_byte = 0;
    return report_bytes_add(&column->missing, &full, 1, error);
}

int report_column_end(struct report_column *column, struct gput_error *error)
{
    if (column->missing_count == 0 || column->count % 8 == 0)
        return GPUT_OK;
    unsigned char rest = column->missing_byte;
    column->missing_byte = 0;
    return report_bytes_add(&column->missing, &rest, 1, error);
}

/* ---- Values ---- */

static int64_t steps_of(const struct report_column *column, double value)
{
    return llround(value / column->step);
}

/* Adds a value in the encoding of the column. */
static int add_value(struct report_column *column, double value, struct gput_error *error)
{
    if (column->encoding == REPORT_F64) {
        uint64_t bits;
        unsigned char text[sizeof bits];
        memcpy(&bits, &value, sizeof bits);
        for (size_t i = 0; i < sizeof bits; i++)
            text[i] = (unsigned char)(bits >> 8 * i);
        return report_bytes_add(&column->bytes, text, sizeof text, error);
    }
    if (isnan(value))
        return report_bytes_add_zeros(&column->bytes, 1, error);
    int64_t steps = steps_of(column, value), change = steps - column->last;
    column->last = steps;

    /* Zigzag: small differences of either sign are small numbers; then 7 bits a byte, lowest first.
     */
    uint64_t rest = (uint64_t)change << 1 ^ (change < 0 ? UINT64_MAX : 0);
    unsigned char text[MAX_VARINT];
    size_t length = 0;
    do {
        text[length] = (unsigned char)(rest & 0x7f);
        rest >>= 7;
        text[length++] |= rest ? 0x80 : 0;
    } while (rest);
    return report_bytes_add(&column->bytes, text, length, error);
}

static bool is_same(const struct report_column *column, double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return column->step == REPORT_DOUBLES ? a == b : steps_of(column, a) == steps_of(column, b);
}

/* Whole bytes stay whole where a file has gigabytes. Divided by a whole number where the step is
 * smaller than 1: 3 / 10 is the double that is nearest to 0.3, 3 * 0.1 is not. */
static double on_step(const struct report_column *column, double value)
{
    if (isnan(value) || column->step == REPORT_DOUBLES)
        return value;
    double steps = (double)steps_of(column, value);
    return column->step < 1 ? steps / round(1 / column->step) : steps * column->step;
}

/* A row differs from those before it: writes them out. */
static int leave_constant(struct report_column *column, struct gput_error *error)
{
    column->encoding = column->step == REPORT_DOUBLES ? REPORT_F64 : REPORT_DELTA;
    if (column->encoding == REPORT_DELTA && column->count > 0) {
        TRY(add_value(column, column->constant, error));
        return report_bytes_add_zeros(&column->bytes, column->count - 1, error);
    }
    for (uint64_t i = 0; i < column->count; i++)
        TRY(add_value(column, column->constant, error));
    return GPUT_OK;
}

int report_column_add(struct report_column *column, double value, struct gput_error *error)
{
    if (!report_column_fits(column, value))
        value = NAN;
    if (column->count == 0)
        column->constant = on_step(column, value);
    else if (column->encoding == REPORT_CONSTANT && !is_same(column, value, column->constant))
        TRY(leave_constant(column, error));
    if (column->encoding != REPORT_CONSTANT)
        TRY(add_value(column, value, error));
    TRY(add_missing_bit(column, isnan(value), error));
    column->count++;
    if (!isnan(value)) {
        if (column->step != REPORT_DOUBLES)
            value = (double)steps_of(column, value) * column->step;
        column->min = fmin(column->min, value);
        column->max = fmax(column->max, value);
        column->sum += value;
    }
    return GPUT_OK;
}
