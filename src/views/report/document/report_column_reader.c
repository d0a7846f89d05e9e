#include "views/report/document/report_column_reader.h"

#include "base/file.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME "The temporary file of the report"
#define MAX_WHOLE 9007199254740992.0

bool report_is_column(const struct doc *value)
{
    return value->kind == DOC_OBJECT && doc_get(value, "encoding") && doc_get(value, "count");
}

/* ---- Bytes ---- */

/* Begins to read a byte string; NULL: an empty one. */
static int bytes_init(struct report_bytes_reader *reader, const struct report_payload *payload,
    const struct doc *place, struct gput_error *error)
{
    reader->bytes = doc_get(place, "offset")
                        ? report_payload_part(payload, (uint64_t)doc_get_int(place, "offset"))
                        : NULL;
    if (reader->bytes && reader->bytes->place_count > 0) {
        reader->buffer = malloc(REPORT_BLOCK_BYTES);
        return reader->buffer ? GPUT_OK : error_memory(error);
    }
    return GPUT_OK;
}

/* Makes the next block the one that is read: those of the spool, then the last one. */
static int bytes_refill(struct report_bytes_reader *reader, struct gput_error *error)
{
    const struct report_bytes *bytes = reader->bytes;
    size_t place = reader->next_place++, got;
    reader->at = reader->end = NULL;
    if (!bytes || place > bytes->place_count)
        return GPUT_OK;
    if (place == bytes->place_count) {
        reader->at = bytes->block;
        reader->end = bytes->block + bytes->used;
        return GPUT_OK;
    }
    TRY(file_read_at(bytes->spool->fd, NAME, reader->buffer, REPORT_BLOCK_BYTES,
        bytes->places[place], &got, error));
    reader->at = reader->buffer;
    reader->end = reader->buffer + got;
    return GPUT_OK;
}

/* The next byte; 0 after the last one, which a column of ours never asks for. */
static inline int next_byte(
    struct report_bytes_reader *reader, unsigned char *byte, struct gput_error *error)
{
    if (reader->at == reader->end)
        TRY(bytes_refill(reader, error));
    *byte = reader->at == reader->end ? 0 : *reader->at++;
    return GPUT_OK;
}

/* ---- Values ---- */

/* Returns how many decimals multiples of a step have. */
static int decimals_of(double scale)
{
    int decimals = 0;
    for (double step = scale; step < 0.99 && decimals < 15; decimals++)
        step *= 10;
    return decimals;
}

int report_column_reader_init(struct report_column_reader *reader,
    const struct report_payload *payload, const struct doc *column, struct gput_error *error)
{
    const char *encoding = doc_get(column, "encoding")->string;
    const struct doc *scale = doc_get(column, "scale"), *missing = doc_get(column, "missing");
    const struct doc *constant = doc_get(column, "value");
    *reader = (struct report_column_reader){
        .count = (uint64_t)doc_get_int(column, "count"),
        .is_constant = strcmp(encoding, "constant") == 0,
        .is_delta = strcmp(encoding, "delta") == 0,
        .has_missing = missing != NULL,
        .constant = constant && constant->kind == DOC_DOUBLE ? constant->number : NAN,
        .scale = scale ? scale->number : 1,
        .every = 1,
    };
    if (doc_get(column, "every")) {
        reader->every = (uint64_t)doc_get_int(column, "every");
        reader->next = (uint64_t)doc_get_int(column, "at");
    }
    reader->decimals = reader->is_delta ? decimals_of(reader->scale) : -1;
    TRY(bytes_init(&reader->bytes, payload, column, error));
    return missing ? bytes_init(&reader->missing, payload, missing, error) : GPUT_OK;
}

/* Reads a difference in steps. */
static int next_difference(
    struct report_bytes_reader *reader, int64_t *difference, struct gput_error *error)
{
    uint64_t number = 0;
    unsigned char byte;
    unsigned shift = 0;
    do {
        TRY(next_byte(reader, &byte, error));
        number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 64);
    *difference = (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
    return GPUT_OK;
}

/* Reads whether the next row is missing. */
static int next_is_missing(
    struct report_column_reader *reader, bool *is_missing, struct gput_error *error)
{
    unsigned bit = reader->row % 8;
    *is_missing = false;
    if (!reader->has_missing)
        return GPUT_OK;
    if (bit == 0)
        TRY(next_byte(&reader->missing, &reader->missing_byte, error));
    *is_missing = reader->missing_byte >> bit & 1;
    return GPUT_OK;
}

/* Reads the value of the next row. */
static int next_value(struct report_column_reader *reader, double *value, struct gput_error *error)
{
    bool is_missing;
    TRY(next_is_missing(reader, &is_missing, error));
    reader->row++;
    if (reader->is_constant) {
        *value = reader->constant;
        return GPUT_OK;
    }
    if (!reader->is_delta) {
        uint64_t bits = 0;
        for (unsigned i = 0; i < sizeof bits; i++) {
            unsigned char byte;
            TRY(next_byte(&reader->bytes, &byte, error));
            bits |= (uint64_t)byte << 8 * i;
        }
        memcpy(value, &bits, sizeof bits);
        return GPUT_OK;
    }
    int64_t difference;
    TRY(next_difference(&reader->bytes, &difference, error));
    reader->last += difference;
    *value = is_missing ? NAN : (double)reader->last * reader->scale;
    return GPUT_OK;
}

bool report_column_reader_at_end(const struct report_column_reader *reader)
{
    return reader->next >= reader->count * reader->every;
}

int report_column_reader_next(
    struct report_column_reader *reader, double *value, struct gput_error *error)
{
    *value = NAN;
    if (report_column_reader_at_end(reader))
        return GPUT_OK;
    while (reader->row <= reader->next)
        TRY(next_value(reader, value, error));
    reader->next += reader->every;
    return GPUT_OK;
}

void report_column_reader_finish(struct report_column_reader *reader)
{
    free(reader->bytes.buffer);
    free(reader->missing.buffer);
    reader->bytes = reader->missing = (struct report_bytes_reader){0};
}

void report_append_number(struct str *text, double value, int decimals)
{
    char number[NUMBER_TEXT_SIZE];
    size_t length;
    if (value == floor(value) && fabs(value) <= MAX_WHOLE)
        length = number_format_int64((int64_t)value, number);
    else if (decimals >= 0)
        length = number_format_rounded(value, decimals, number);
    else
        length = number_format_double(value, number);
    str_append_bytes(text, number, length);
}
