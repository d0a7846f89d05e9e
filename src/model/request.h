/*
 * What to ask a scheduler for next time, by what was used: with a margin, and rounded up to a
 * figure that people would write. A value that is NaN is not known, and stays so.
 */
#pragma once

#include "base/str.h"

/* Above what was used. Peaks and times differ from run to run; a job that exceeds them is killed.
 */
#define REQUEST_RAM_MARGIN 0.2
#define REQUEST_TIME_MARGIN 0.25
#define REQUEST_CORES_MARGIN 0.1

/* Rounds up without a margin. */
double request_round_ram_bytes(double bytes);
double request_round_seconds(double seconds);

double request_ram_bytes(double used_bytes);
double request_seconds(double used_seconds);
double request_cores(double used_cores); /* 1 at least */

/* Appends what is known as options of sbatch: "--mem=10G --cpus-per-task=4 --time=02:00:00". */
void request_add_slurm(double ram_bytes, double cores, double seconds, struct str *text);
