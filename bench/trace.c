/*
 * Reading and merging a trace: bench-trace TRACE FOLDER. Each way runs in a process of its own, so
 * that its CPU time and its memory are the kernel's figures. The floor is reading the file.
 */
#include "trace/event_stream.h"

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

static int scan(void)
{
    struct event_stream *stream;
    struct trace_event event;
    bool there = true;
    if (event_stream_open(trace, &stream, NULL) != GPUT_OK)
        return 1;
    int code = GPUT_OK;
    while (code == GPUT_OK && there)
        code = event_stream_next(stream, &event, &there, NULL);
    event_stream_close(stream);
    return code;
}

static int merge(void)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    char output[4096];
    snprintf(output, sizeof output, "%s/merged.json", folder);
    unlink(output);
    options.inputs = &trace;
    options.input_count = 1;
    options.output = output;
    int code = gput_timeline_merge(&options, NULL, NULL);
    unlink(output);
    return code;
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
        {"merge into a timeline", merge}, {"Python: json.load", python_json}};
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
