/*
 * Cells of CSV reports.
 */
#ifndef OUTPUT_CSV_TEXT_H
#define OUTPUT_CSV_TEXT_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Appends a text, quoted where it has to be. */
void csv_text_append(struct str *text, const char *value);

/* Each appends a comma and a number; nothing after the comma for NaN, or when it is not known. */
void csv_text_append_number(struct str *text, double value);
void csv_text_append_count(struct str *text, bool known, int64_t value);

#endif
