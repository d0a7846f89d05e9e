/*
 * Reading and merging a trace: bench-trace TRACE FOLDER. Each way runs in a process of its own, so
 * that its CPU time and its memory are the kernel's figures. The floor is reading the file; that of
 * merging is cp. TRACE.gz and TRACE.zst are read, too, if they are there.
 */
#include "files/trace/event_stream.h"

#include <gputracker/cores.h>
#include <gputracker/timeline.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *trace, *folder;

static int read_file(void)
{
    static char buffer[256 << 10];
    int fd = open(trace, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0)
        got = read(fd, buffer, sizeof buffer);
    return got < 0;
}

static int scan_file(const char *ending, unsigned cores)
{
    char path[4096];
    struct event_stream *stream;
    struct trace_event event;
    bool there = true;
    snprintf(path, sizeof path, "%s%s", trace, ending);
    if (event_stream_open(path, &stream, NULL) != GPUT_OK)
        return 1;
    event_stream_use_cores(stream, cores);
    int code = GPUT_OK;
    while (code == GPUT_OK && there)
        code = event_stream_next(stream, &event, &there, NULL);
    event_stream_close(stream);
    return code;
}

static int scan(void)
{
    return scan_file("", 1);
}

static int scan_on_all_cores(void)
{
    return scan_file("", gput_usable_cores());
}

static int scan_gzip(void)
{
    return scan_file(".gz", 1);
}

static int scan_gzip_ahead(void)
{
    return scan_file(".gz", 2);
}

static int scan_zstandard(void)
{
    return scan_file(".zst", 1);
}

static int copy(void)
{
    char output[4096];
    snprintf(output, sizeof output, "%s/copy.json", folder);
    execlp("cp", "cp", trace, output, (char *)NULL);
    return 1;
}

static int merge_by(unsigned cores)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    char output[4096];
    snprintf(output, sizeof output, "%s/merged.json", folder);
    unlink(output);
    options.inputs = &trace;
    options.n_inputs = 1;
    options.output = output;
    options.cores = cores;
    int code = gput_timeline_merge(&options, NULL, NULL);
    unlink(output);
    return code;
}

static int merge(void)
{
    return merge_by(1);
}

static int merge_on_all_cores(void)
{
    return merge_by(gput_usable_cores());
}

static int python_json(void)
{
    execlp("python3", "python3", "-c", "import json, sys; json.load(open(sys.argv[1]))", trace,
        (char *)NULL);
    return 1;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        int (*function)(void);
    } ways[] = {{"read the file", read_file}, {"scan its events", scan},
        {"… on all cores", scan_on_all_cores}, {"scan it from .gz", scan_gzip},
        {"… unpacked ahead", scan_gzip_ahead}, {"scan it from .zst", scan_zstandard}, {"cp", copy},
        {"merge into a timeline", merge}, {"… on all cores", merge_on_all_cores},
        {"Python: json.load", python_json}};
    struct stat info;
    double floor_seconds = 0;
    if (count != 3 || stat(arguments[1], &info) != 0) {
        fputs("bench-trace TRACE FOLDER\n", stderr);
        return 2;
    }
    trace = arguments[1];
    folder = arguments[2];
    printf(
        "%-24s %8s %8s %10s %10s %10s\n", "", "wall s", "CPU s", "GB/s CPU", "x floor", "peak MB");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double start = now();
        struct rusage used;
        int status;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(ways[i].function());
        if (child < 0 || wait4(child, &status, 0, &used) < 0)
            return 1;
        double wall = now() - start, cpu = seconds(used.ru_utime) + seconds(used.ru_stime);
        floor_seconds = i == 0 ? cpu : floor_seconds;
        printf("%-24s %8.2f %8.2f %10.3f %10.1f %10.1f%s\n", ways[i].name, wall, cpu,
            (double)info.st_size / 1e9 / cpu, cpu / floor_seconds, (double)used.ru_maxrss / 1024,
            status == 0 ? "" : "  (failed)");
    }
    return 0;
}
