/*
 * The processes of a session: what the public type is inside of the library.
 */
#pragma once

#include <gputracker/processes.h>

/* All processes in order of discovery, parents before their children. */
struct gput_processes {
    struct gput_process *processes;
    size_t count;
    bool has_command_lines; /* command lines were requested */
    /* Sums of the processes that are not listed: those that ended and used little CPU time and
     * RAM. */
    struct {
        uint64_t count; /* the sums are lower bounds where gput_process_at_least() says so */
        double cpu_seconds;
        double peak_ram_bytes;     /* of the largest */
        double peak_gpu_ram_bytes; /* of the largest */
        double read_bytes, write_bytes;
        double storage_read_bytes, storage_write_bytes; /* as above */
    } others;
    enum gput_ram_unit ram_unit;     /* unit in which reports show RAM */
    enum gput_ram_unit gpu_ram_unit; /* unit in which reports show GPU RAM */
    int64_t start_ns;                /* of the session, since the epoch */
    void *storage;                   /* owns the command lines */
};
