/*
 * The processes of a session: what the public type is inside of the library.
 */
#pragma once

#include <gputracker/processes.h>

/* All processes in order of discovery, parents before their children. */
struct gput_processes {
    struct gput_process *processes;
    size_t count;
    bool has_command_lines; /* they were asked for */
    /* Of the many that ended, those without much CPU time and RAM are summed up. */
    struct {
        uint64_t count; /* sums are at least these, as gput_process_at_least() says of each */
        double cpu_seconds;
        double peak_ram_bytes;     /* of the largest */
        double peak_gpu_ram_bytes; /* of the largest */
        double read_bytes, write_bytes;
        double storage_read_bytes, storage_write_bytes; /* as above */
    } others;
    enum gput_ram_unit ram_unit;     /* that reports show RAM in */
    enum gput_ram_unit gpu_ram_unit; /* and GPU RAM */
    int64_t start_ns;                /* of the session, since the epoch */
    void *storage;                   /* owns the command lines */
};
