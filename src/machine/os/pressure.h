/*
 * Pressure stall information: /proc/pressure/NAME, and NAME.pressure of a control group of version
 * 2. For how long some of its tasks waited, and for how long all that could have run did.
 */
#pragma once

/* Since the machine was started, or the group was made. NaN: not known. */
struct pressure {
    double some_seconds, full_seconds;
};

/* Reads a terminated text. Kernels before 5.13 have no "full" of a CPU. */
struct pressure pressure_parse(const char *text);

/* Reads the file of that path. */
struct pressure pressure_read(const char *path);
