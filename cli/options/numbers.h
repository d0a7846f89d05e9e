/*
 * Numbers on the command line. The program keeps the C locale, so there is a decimal point
 * everywhere.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads a whole number at the beginning of a text. Returns what follows it; NULL when there is none
 * or it does not fit. */
const char *numbers_parse_whole(const char *text, int64_t *number);

/* The same of a text that is nothing else. */
bool numbers_read_whole(const char *text, int64_t *number);

/* A text that is a number and nothing else; also "inf" and "nan". */
bool numbers_read_decimal(const char *text, double *number);
