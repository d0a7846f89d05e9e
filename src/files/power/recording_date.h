/*
 * Dates in recordings of power: "YYYY-MM-DD HH:MM:SS.ffffff", the local time of the recording
 * machine, as microseconds on a calendar without time zones. Differences are exact, except across a
 * change of the local time zone's offset.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define RECORDING_DATE_SIZE 32

/* Parses a date. It may have a fraction of up to nine digits, 'T' instead of the blank, and a time
 * zone at the end, which is ignored. Returns false when it is not a date. */
bool recording_date_parse(const char *text, int64_t *microseconds);

/* Writes a date as Python's str(datetime) does: without a fraction when that is zero. */
void recording_date_format(int64_t microseconds, char text[RECORDING_DATE_SIZE]);

/* Converts nanoseconds since the epoch (UTC) to a local date. */
int64_t recording_date_of_epoch_ns(int64_t ns);
