/*
 * Figures in a unit that fits them, for people: "412 MB", "3 min 12 s", "1.2 kJ".
 */
#pragma once

/* Enough for every text of this file, its NUL included. */
#define HUMAN_SIZE 32

/* All write at most HUMAN_SIZE bytes and return `text`; NaN and infinity are "n/a". */

/* Three significant digits and a decimal prefix: "0 B", "1.9 kB", "412 MB", "25.3 GB". */
const char *human_bytes(double bytes, char *text);

/* The same with as many digits in all rows, and at every moment: "1.90 kB", "59.0 ms", "45.0 W". */
const char *human_bytes_of_column(double bytes, char *text);
const char *human_seconds_of_column(double seconds, char *text);
const char *human_joules_of_column(double joules, char *text);
const char *human_watts_of_column(double watts, char *text);

/* As human_seconds(), in at most ten columns: "20.2 min", "12.2 h". */
const char *human_seconds_of_figure(double seconds, char *text);

/* "950", "12.3 k", "4.71 G". */
const char *human_count(double count, char *text);

/* "570 ns", "12.3 µs", "850 ms", "12.3 s", "3 min 12 s", "2 h 05 min", "3 d 04 h". */
const char *human_seconds(double seconds, char *text);

/* "36.1 mJ", "412 J", "1.2 kJ", "3.6 MJ". */
const char *human_joules(double joules, char *text);

/* "6.4 W", "310 W", "1.2 kW". */
const char *human_watts(double watts, char *text);

/* "+3.2 %"; "< 0.1 %" of what would be rounded to nothing; "21 times" from HUMAN_TIMES_PERCENT on.
 */
#define HUMAN_TIMES_PERCENT 200
const char *human_change(double percent, char *text);

/* CPU time by wall time: "0", "under 0.01", "0.03", "3.6". */
const char *human_cores(double cores, char *text);

/* A share of what there is: "0 %", "under 1 %", "37 %". */
const char *human_share(double percent, char *text);

/* "0.25 %", "37.8 %", "1234 %": three digits, of whole numbers all. */
const char *human_percent(double percent, char *text);

/* Writes a value by the name of its unit: "bytes", "seconds", "percent", "joules", "watts" or
 * "grams". Without a unit (NULL) it is a number of four digits. */
const char *human_of_unit(const char *unit, double value, char *text);

/* "0.1 g", "2.4 kg". */
const char *human_grams(double grams, char *text);
