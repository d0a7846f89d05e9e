/*
 * What to request from a scheduler next time: the use with a margin, rounded up to a figure that
 * people would write. NaN stays NaN.
 */
#pragma once

#include "base/str.h"

/* Margins above what was used: peaks and times vary between runs, and a job that exceeds its
 * request is killed. */
#define REQUEST_RAM_MARGIN 0.2
#define REQUEST_TIME_MARGIN 0.25
#define REQUEST_CORES_MARGIN 0.1

/* Rounds up without a margin. */
double request_round_ram_bytes(double bytes);
double request_round_seconds(double seconds);

double request_ram_bytes(double used_bytes);
double request_seconds(double used_seconds);
double request_cores(double used_cores); /* Returns at least 1. */

/* Appends the known values as options of sbatch: "--mem=10G --cpus-per-task=4 --time=02:00:00".
 * */
void request_add_slurm(double ram_bytes, double cores, double seconds, struct str *text);
