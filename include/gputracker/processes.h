/*
 * Each process of a session: its identity, lifetime and resource usage. Recorded with
 * `gput_session_options.processes`.
 *
 *     struct gput_processes *processes;
 *     if (gput_session_processes(session, &processes, &error) == GPUT_OK) {
 *         for (size_t i = 0; i < gput_processes_count(processes); i++) {
 *             const struct gput_process *process = gput_processes_get(processes, i);
 *             printf("%s: %.3f s\n", process->name, process->cpu_seconds);
 *         }
 *         gput_processes_destroy(processes);
 *     }
 */
#ifndef GPUTRACKER_PROCESSES_H
#define GPUTRACKER_PROCESSES_H

#include <gputracker/error.h>
#include <gputracker/results.h>
#include <gputracker/session.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How far the peak of a process can be trusted. */
enum gput_process_peak {
    GPUT_PROCESS_PEAK_UNKNOWN, /**< it was never polled */
    GPUT_PROCESS_PEAK_SAMPLED, /**< the highest of the samples */
    /** VmHWM, the kernel's high-water mark, as last read before its end; or that of its exit
     * record, which covers only the time since its last execve() or since a program reset it. The
     * peak before that may have been higher. */
    GPUT_PROCESS_PEAK_KEPT,
    GPUT_PROCESS_PEAK_FINAL, /**< the kernel's, given at its end: exact */
};

/** "unknown", "sampled", "kept" or "final". Static text. */
GPUT_API const char *gput_process_peak_name(enum gput_process_peak peak);

/** One process. Shared: see gputracker/sized.h. A figure that is not known is NaN; see
 * gput_process_at_least(). */
struct gput_process {
    pid_t pid;
    pid_t parent;           /**< PID of the process that started it; 0: unknown */
    ptrdiff_t parent_index; /**< index in the list of the parent, or of the nearest ancestor there;
                               -1: none */
    /** The kernel's comm, cut to 15 bytes; bytes that are not UTF-8 are U+FFFD, here and in the
     * command line. "": never seen. */
    char name[48];
    const char *command_line; /**< NULL unless asked for and seen */
    int64_t start_ns;         /**< since the epoch */
    int64_t end_ns;           /**< since the epoch; 0: it has not ended */
    bool is_final; /**< true: the figures are those of its exit record (taskstats); false: those of
                      the last scan, after which it may have used more */
    /** Since tracking began. The kernel makes the exit record before the exit is complete: the time
     * to free the memory (a tenth of a second for some gigabytes) is not in it. NaN where that
     * leaves 0. */
    double cpu_seconds;
    double peak_ram_bytes; /**< RSS */
    enum gput_process_peak peak;
    double peak_gpu_ram_bytes; /**< highest sum over all GPUs that drivers listed; memory shared by
                                  processes counts in each */
    /** Without exit records (taskstats) these include the children that it waited for. */
    double read_bytes, write_bytes; /**< through read(), write() and the like */
    double storage_read_bytes;
    double storage_write_bytes; /**< without data that was dropped before it was written (removed
                                   files) */
    bool has_status;
    int status; /**< as of wait(2) */
    /** True: it ended at end_ns, as the kernel announced or the collecting of it showed. False:
     * end_ns is the time of the last scan that saw it alive, or of the first that saw it ended and
     * not yet collected. */
    bool end_is_exact;
};

/** Where end_ns is from: "final" where end_is_exact, else "sampled"; NULL while it lives. Static
 * text. */
GPUT_API const char *gput_process_end_name(const struct gput_process *process);

/**
 * Which figures of a process are lower bounds. Static text:
 *
 *     "cpu_seconds, bytes"  its figures are final. The kernel reports CPU time as of the last
 *                           scheduler tick, and whole kilobytes for each thread.
 *     "all"                 no exit record came for it
 *     NULL                  it lives: its figures are as of now
 */
GPUT_API const char *gput_process_at_least(const struct gput_process *process);

/** All processes in order of discovery, parents before their children. */
struct gput_processes;

/**
 * The processes so far. On success the caller frees `*processes` by gput_processes_destroy().
 * Errors: GPUT_ERROR_STATE when the options did not ask for them or tracking has not begun,
 * GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_session_processes(
    struct gput_session *session, struct gput_processes **processes, struct gput_error *error);

/** NULL is fine. */
GPUT_API void gput_processes_destroy(struct gput_processes *processes);

/** Number of listed processes. If many ended, those with little CPU time and RAM are only summed
 * up, in the table "other_processes". */
GPUT_API size_t gput_processes_count(const struct gput_processes *processes);

/** One of them, which belongs to the list; NULL: no such index. */
GPUT_API const struct gput_process *gput_processes_get(
    const struct gput_processes *processes, size_t index);

/**
 * The list as tables, in base units:
 *
 * - "processes", a row each in the same order: pid, parent, name, command_line, start_timestamp,
 *   end_timestamp, end_timestamp_source, at_least, cpu_seconds, peak_ram_bytes, peak_ram_source,
 *   peak_gpu_ram_bytes, read_bytes … storage_write_bytes, exit_status, signal;
 * - "other_processes", a record: the sums of those that are not listed.
 *
 * On success `*tables` is to be freed by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_processes_tables(
    const struct gput_processes *processes, struct gput_tables **tables, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
