#include "model/processes.h"

#include "model/process_columns.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

size_t gput_processes_count(const struct gput_processes *processes)
{
    return processes->count;
}

const struct gput_process *gput_processes_get(const struct gput_processes *processes, size_t index)
{
    return index < processes->count ? &processes->processes[index] : NULL;
}

const char *gput_process_peak_name(enum gput_process_peak peak)
{
    static const char *const names[] = {"unknown", "sampled", "kept", "final"};
    return names[peak];
}

const char *gput_process_at_least(const struct gput_process *process)
{
    if (process->end_ns == 0)
        return NULL;
    return process->is_final ? "cpu_seconds, bytes" : "all";
}

const char *gput_process_end_name(const struct gput_process *process)
{
    if (process->end_ns == 0)
        return NULL;
    return process->end_is_exact ? "final" : "sampled";
}

/* ---- Columns ---- */

#define EPOCH "seconds since the epoch"

static double parent(const void *process)
{
    pid_t parent = ((const struct gput_process *)process)->parent;
    return parent > 0 ? (double)parent : NAN;
}

static double start(const void *process)
{
    return (double)((const struct gput_process *)process)->start_ns * 1e-9;
}

static double end(const void *process)
{
    int64_t end_ns = ((const struct gput_process *)process)->end_ns;
    return end_ns ? (double)end_ns * 1e-9 : NAN;
}

static const char *end_source(const void *process)
{
    return gput_process_end_name(process);
}

static const char *at_least(const void *process)
{
    return gput_process_at_least(process);
}

static const char *peak_source(const void *process)
{
    return gput_process_peak_name(((const struct gput_process *)process)->peak);
}

static double exit_status(const void *item)
{
    const struct gput_process *process = item;
    bool exited = process->has_status && WIFEXITED(process->status);
    return exited ? WEXITSTATUS(process->status) : NAN;
}

static double exit_signal(const void *item)
{
    const struct gput_process *process = item;
    bool killed = process->has_status && WIFSIGNALED(process->status);
    return killed ? WTERMSIG(process->status) : NAN;
}

/* clang-format off */
#define TEXT(name, function, meaning) {name, NULL, meaning, GPUT_COLUMN_TEXT, .text = function}
#define MEMBER(name, type, of, member, meaning) {name, NULL, meaning, GPUT_COLUMN_##type, COLUMN_OF(of, member)}
#define WHOLE(name, function, meaning) {name, NULL, meaning, GPUT_COLUMN_INT, .number = function}
#define MOMENT(name, function, meaning) {name, EPOCH, meaning, GPUT_COLUMN_DOUBLE, .number = function}
#define SECONDS(name, type, member, meaning) {name, "seconds", meaning, GPUT_COLUMN_DOUBLE, COLUMN_OF(type, member)}
#define BYTES(name, type, member, meaning) {name, "bytes", meaning, GPUT_COLUMN_INT, COLUMN_OF(type, member)}
#define TRANSFERS(type, of) \
    BYTES("read_bytes", type, of read_bytes, "read through read() and the like"), \
    BYTES("write_bytes", type, of write_bytes, "written through write() and the like"), \
    BYTES("storage_read_bytes", type, of storage_read_bytes, "fetched from storage"), \
    BYTES("storage_write_bytes", type, of storage_write_bytes, "written to storage, without data dropped before it got there")

const struct column process_columns[PROCESS_COLUMNS] = {
    MEMBER("pid", INT, struct gput_process, pid, "process id"),
    WHOLE("parent", parent, "process id of the process that started it"),
    MEMBER("name", TEXT, struct gput_process, name, "as the kernel has it, cut to 15 bytes"),
    MEMBER("command_line", TEXT, struct gput_process, command_line, "with its arguments, where asked for"),
    MOMENT("start_timestamp", start, "when it was started"),
    MOMENT("end_timestamp", end, "when it ended"),
    TEXT("end_timestamp_source", end_source, "final: that is exact; sampled: when it was last or first seen so"),
    TEXT("at_least", at_least, "which figures are lower bounds: \"cpu_seconds, bytes\" or all"),
    SECONDS("cpu_seconds", struct gput_process, cpu_seconds, "CPU time since tracking began"),
    BYTES("peak_ram_bytes", struct gput_process, peak_ram_bytes, "peak RSS"),
    TEXT("peak_ram_source", peak_source, "how far that can be trusted: final, kept, sampled or unknown"),
    BYTES("peak_gpu_ram_bytes", struct gput_process, peak_gpu_ram_bytes, "highest GPU RAM that drivers listed"),
    TRANSFERS(struct gput_process, ),
    WHOLE("exit_status", exit_status, "exit status"),
    WHOLE("signal", exit_signal, "signal that killed it"),
};

const struct column other_process_columns[OTHER_PROCESS_COLUMNS] = {
    MEMBER("count", INT, struct gput_processes, others.count, "processes that are not listed"),
    SECONDS("cpu_seconds", struct gput_processes, others.cpu_seconds, "CPU time of all of them"),
    BYTES("largest_peak_ram_bytes", struct gput_processes, others.peak_ram_bytes, "peak RSS of the largest"),
    BYTES("largest_peak_gpu_ram_bytes", struct gput_processes, others.peak_gpu_ram_bytes, "GPU RAM of the largest"),
    TRANSFERS(struct gput_processes, others.),
};
/* clang-format on */

const char *process_column_in_unit(const struct column *column, enum gput_quantity *quantity)
{
    static const struct {
        const char *column, *in_unit;
        enum gput_quantity quantity;
    } names[] = {
        {"peak_ram_bytes", "peak_ram", GPUT_QUANTITY_RAM},
        {"largest_peak_ram_bytes", "largest_peak_ram", GPUT_QUANTITY_RAM},
        {"peak_gpu_ram_bytes", "peak_gpu_ram", GPUT_QUANTITY_GPU_RAM},
        {"largest_peak_gpu_ram_bytes", "largest_peak_gpu_ram", GPUT_QUANTITY_GPU_RAM},
    };
    for (size_t i = 0; i < COLUMN_COUNT(names); i++) {
        if (strcmp(column->name, names[i].column) == 0) {
            *quantity = names[i].quantity;
            return names[i].in_unit;
        }
    }
    return NULL;
}
