/*
 * What an analysis costs next to reading its two files alone. Writes a tracking file of ROWS rows
 * and a sub-tracking file of CALLS calls of NAMES code blocks in 4 processes to a temporary folder,
 * then prints CPU seconds of both, their ratio and the memory of the analysis.
 *
 *     analyze [ROWS [CALLS [NAMES]]]      default 1000000 100000 10
 *
 * Each is measured in a process of its own, so that neither profits from the other's memory.
 */
#include "files/marks/sub_tracking_file.h"
#include "files/tracking/tracking_reader.h"
#include "model/measurement_list.h"

#include <gputracker/analysis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define START 1745449609.0
#define BATCH 256

static const char static_data[] =
    "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,system_core_count,"
    "n_expected_cores,system_gpu_count,n_expected_gpus\n"
    "gigabytes,gigabytes,hours,67.25414912000001,16.376,12,12,1,1\n";

static void write_rows(const char *path, long rows)
{
    FILE *file = fopen(path, "w");
    fputs(static_data, file);
    for (int i = 0; i < TRACKED_MEASUREMENTS; i++) {
        /* Columns after the timestamp are left out, as in a file of the older gpu_tracker. */
        if (!measurement_came_later(tracked_measurements[i]))
            fprintf(file, "%s,", gput_measurement(tracked_measurements[i])->name);
    }
    fputs("timestamp\n", file);
    for (long row = 0; row < rows; row++) {
        long turn = row * 7919 % 5003;
        for (int i = 0; i < 4; i++)
            fprintf(file, "%.9f,", (double)(turn + i) * 0.011);
        fputs("0,0,0,0.216,0,0,15,36,51,", file);
        for (int i = 0; i < 8; i++)
            fprintf(file, "%.10g,", (double)(turn + i) / 17);
        fprintf(file, "%.6f\n", START + (double)row * 0.01);
    }
    fclose(file);
}

static void write_calls(const char *path, long calls, long names, double seconds)
{
    FILE *file = fopen(path, "w");
    fputs("process_id,code_block_name,position,timestamp\n", file);
    for (long i = 0; i < calls; i++) {
        double start = START + seconds * (double)i / (double)calls;
        double stop = start + 0.8 * seconds / (double)calls;
        for (int position = 0; position < 2; position++)
            fprintf(file, "%ld,block-%ld,%d,%.7f\n", 1000 + i % 4, i % names, position,
                position ? stop : start);
    }
    fclose(file);
}

/* Reads both files and does nothing with them. */
static int only_read(const char *tracking, const char *marks)
{
    static struct tracking_row rows[BATCH];
    static struct sub_tracking_mark mark_rows[BATCH];
    struct tracking_reader *reader;
    struct sub_tracking_reader *mark_reader;
    struct sub_tracking_names *names = sub_tracking_names_create();
    size_t count;
    if (tracking_reader_open(tracking, &reader, NULL) != GPUT_OK ||
        sub_tracking_reader_open(marks, names, &mark_reader, NULL) != GPUT_OK)
        return 1;
    do {
        if (tracking_reader_next(reader, rows, BATCH, &count, NULL) != GPUT_OK)
            return 1;
    } while (count > 0);
    do {
        if (sub_tracking_reader_next(mark_reader, mark_rows, BATCH, &count, NULL) != GPUT_OK)
            return 1;
    } while (count > 0);
    return 0;
}

static int analyze(const char *tracking, const char *marks)
{
    struct gput_analysis_options options = gput_analysis_options_default();
    struct gput_analysis *analysis;
    struct gput_error error;
    options.tracking_file = tracking;
    options.sub_tracking_file = marks;
    if (gput_analysis_create(&options, &analysis, &error) == GPUT_OK)
        return 0;
    fprintf(stderr, "%s\n", error.message);
    return 1;
}

/* CPU seconds and memory of a function in a process of its own. */
static double measure(int (*function)(const char *, const char *), const char *tracking,
    const char *marks, double *megabytes)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(function(tracking, marks));
    if (wait4(child, &status, 0, &usage) < 0 || status != 0) {
        fputs("Reading or analyzing the files failed.\n", stderr);
        exit(1);
    }
    *megabytes = (double)usage.ru_maxrss * 1024e-6;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? atol(argv[1]) : 1000000;
    long calls = argc > 2 ? atol(argv[2]) : 100000;
    long names = argc > 3 ? atol(argv[3]) : 10;
    char folder[] = "/tmp/bench-analyze-XXXXXX";
    if (rows < 1 || calls < 1 || names < 1 || !mkdtemp(folder))
        return 2;
    char tracking[64], marks[64];
    snprintf(tracking, sizeof tracking, "%s/t.csv", folder);
    snprintf(marks, sizeof marks, "%s/s.csv", folder);
    write_rows(tracking, rows);
    write_calls(marks, calls, names, (double)rows * 0.01);

    double best[2] = {1e300, 1e300}, megabytes[2];
    for (int round = 0; round < 3; round++) {
        double read_seconds = measure(only_read, tracking, marks, &megabytes[0]);
        double analyze_seconds = measure(analyze, tracking, marks, &megabytes[1]);
        best[0] = read_seconds < best[0] ? read_seconds : best[0];
        best[1] = analyze_seconds < best[1] ? analyze_seconds : best[1];
    }
    printf("analyze %ld rows, %ld calls, %ld names: read %.3f s, analyze %.3f s, ratio %.2f, %.0f "
           "MB\n",
        rows, calls, names, best[0], best[1], best[1] / best[0], megabytes[1]);
    unlink(tracking);
    unlink(marks);
    rmdir(folder);
    return 0;
}
