/*
 * Decodes columns as the page does, from what docs/report-format.md says alone.
 */
#pragma once

#include "base/str.h"
#include "views/report/document/report_column.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static inline int decoder_take(
    void *user, const void *bytes, size_t length, struct gput_error *error)
{
    (void)error;
    str_append_bytes(user, bytes, length);
    return GPUT_OK;
}

static inline int64_t decoder_varint(const unsigned char **at)
{
    uint64_t number = 0;
    unsigned shift = 0;
    do
        number |= (uint64_t)(**at & 0x7f) << shift;
    while (shift += 7, *(*at)++ & 0x80);
    return (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
}

/* The values of an ended column; `values` has space for column->count. False when its bytes are not
 * exactly those of its rows. */
static inline bool decoder_read(const struct report_column *column, double *values)
{
    struct str bytes = {0}, missing = {0};
    report_bytes_pass(&column->bytes, decoder_take, &bytes, NULL);
    report_bytes_pass(&column->missing, decoder_take, &missing, NULL);
    const unsigned char *at = (const unsigned char *)str_text(&bytes), *bits = NULL;
    if (column->encoding == REPORT_DELTA && column->missing_count > 0)
        bits = (const unsigned char *)missing.data;
    int64_t sum = 0;
    for (uint64_t i = 0; i < column->count; i++) {
        if (column->encoding == REPORT_CONSTANT) {
            values[i] = column->constant;
        } else if (column->encoding == REPORT_F64) {
            memcpy(&values[i], at, sizeof values[i]);
            at += sizeof values[i];
        } else {
            sum += decoder_varint(&at);
            values[i] = bits && bits[i / 8] >> i % 8 & 1 ? NAN : (double)sum * column->step;
        }
    }
    bool is_exact = at == (const unsigned char *)str_text(&bytes) + bytes.length &&
                    (!bits || missing.length == (column->count + 7) / 8);
    str_finish(&bytes);
    str_finish(&missing);
    return is_exact;
}
