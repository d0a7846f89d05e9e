#include "analysis/bench/bench_figures.h"

#include <math.h>
#include <string.h>

/* clang-format off */
const struct bench_figure_info bench_figures[BENCH_FIGURE_COUNT] = {
    [BENCH_WALL] = {"wall_seconds", "Wall time", BENCH_SECONDS, .meaning = "from execve() to the end of the main process"},
    [BENCH_WALL_WITHOUT_WAIT] = {"wall_without_wait_seconds", "  without waits", BENCH_SECONDS, .source = "run_queue",
        .meaning = "wall time without the time in which it could have run, but waited for a CPU"},
    [BENCH_CPU] = {"cpu_seconds", "CPU time", BENCH_SECONDS, "accounting.cpu_seconds.kernel", .meaning = "CPU time of all its processes"},
    [BENCH_CPU_USER] = {"cpu_user_seconds", "  user", BENCH_SECONDS, "accounting.cpu_seconds.kernel_user", .meaning = "of that, in user mode", .is_detail = true},
    [BENCH_CPU_SYSTEM] = {"cpu_system_seconds", "  system", BENCH_SECONDS, "accounting.cpu_seconds.kernel_system", .meaning = "of that, in the kernel", .is_detail = true},
    [BENCH_RAM] = {"ram_bytes", "RAM peak", BENCH_BYTES, "peaks.combined_bytes", "ram", "peak RAM of all its processes together: it was at least this"},
    [BENCH_RAM_AT_MOST] = {"ram_at_most_bytes", "  at most", BENCH_BYTES, "peaks.combined_at_most_bytes", "ram", "and at most this",
        .is_optional = true, .is_bound = true},
    [BENCH_GPU_RAM] = {"gpu_ram_bytes", "GPU RAM peak", BENCH_BYTES, "gpu_peaks.combined_bytes", "gpu_ram", "peak GPU RAM of all its processes together", .needs = "gpu"},
    [BENCH_GPU_TIME] = {"gpu_seconds", "GPU time", BENCH_SECONDS, NULL, "gpu", "how long its GPUs were busy, whoever used them"},
    [BENCH_ENERGY] = {"energy_joules", "Energy", BENCH_JOULES, "energy.combined_joules", "energy_shares", "its share of the machine's energy", .needs = "cpu_energy"},
    [BENCH_CPU_ENERGY] = {"cpu_energy_joules", "  CPU packages", BENCH_JOULES, "energy.machine.package_joules", "cpu_energy", "energy of the CPU packages, whoever used them", .is_detail = true},
    [BENCH_GPU_ENERGY] = {"gpu_energy_joules", "  GPUs", BENCH_JOULES, "energy.machine.gpu_joules", "gpu_energy", "energy of the GPUs, whoever used them", .needs = "gpu", .is_detail = true},
    [BENCH_WORK] = {"work", "Work", BENCH_COUNT, .label_of_calls = "Calls", .meaning = "units of work, as the command's output says", .is_optional = true},
    [BENCH_WALL_PER_WORK] = {"wall_seconds_per_work", "  wall per unit", BENCH_SECONDS, .label_of_calls = "  wall per call", .meaning = "wall time for a unit of work", .is_optional = true},
    [BENCH_CPU_PER_WORK] = {"cpu_seconds_per_work", "  CPU per unit", BENCH_SECONDS, .label_of_calls = "  CPU per call", .meaning = "CPU time for a unit of work", .is_optional = true},
    [BENCH_ENERGY_PER_WORK] = {"energy_joules_per_work", "  energy per unit", BENCH_JOULES, .label_of_calls = "  energy per call", .meaning = "energy for a unit of work", .is_optional = true},
    [BENCH_RAM_PER_WORK] = {"ram_bytes_per_work", "  RAM per unit", BENCH_BYTES, .label_of_calls = "  RAM per call", .meaning = "peak RAM by units of work", .is_detail = true, .is_optional = true},
    [BENCH_INSTRUCTIONS] = {"instructions", "Instructions", BENCH_COUNT, .meaning = "instructions in user mode", .is_detail = true},
    [BENCH_CYCLES] = {"cycles", "Cycles", BENCH_COUNT, .meaning = "CPU cycles in user mode", .is_detail = true},
    [BENCH_CACHE_MISSES] = {"cache_misses", "Cache misses", BENCH_COUNT, .meaning = "misses of the last cache in user mode", .is_detail = true},
    [BENCH_READ] = {"read_bytes", "Read", BENCH_BYTES, "accounting.bytes.read", "bytes", "read through read() and the like", .is_detail = true},
    [BENCH_WRITTEN] = {"written_bytes", "Written", BENCH_BYTES, "accounting.bytes.written", "bytes", "written through write() and the like", .is_detail = true},
    [BENCH_STORAGE_READ] = {"storage_read_bytes", "From storage", BENCH_BYTES, "accounting.bytes.read_from_storage", "counts", "fetched from storage", .is_detail = true},
    [BENCH_STORAGE_WRITTEN] = {"storage_written_bytes", "To storage", BENCH_BYTES, "accounting.bytes.written_to_storage", "written_to_storage", "written to storage", .is_detail = true},
    [BENCH_MINOR_FAULTS] = {"minor_page_faults", "Page faults", BENCH_COUNT, "accounting.page_faults.minor", "counts", "page faults that needed no storage", .is_detail = true},
    [BENCH_MAJOR_FAULTS] = {"major_page_faults", "  from storage", BENCH_COUNT, "accounting.page_faults.major", "counts", "page faults that needed storage", .is_detail = true},
    [BENCH_VOLUNTARY_SWITCHES] = {"voluntary_context_switches", "Voluntary switches", BENCH_COUNT, "accounting.context_switches.voluntary", "counts", "context switches: it waited for something", .is_detail = true},
    [BENCH_INVOLUNTARY_SWITCHES] = {"involuntary_context_switches", "Other switches", BENCH_COUNT, "accounting.context_switches.involuntary", "counts", "context switches: another thread got the CPU", .is_detail = true, .is_of_machine = true},
    [BENCH_PROCESSES] = {"processes", "Processes", BENCH_COUNT, "accounting.processes.seen", "processes", "processes that it started, itself included", .is_detail = true},
    [BENCH_WAIT] = {"wait_seconds", "Waited for a CPU", BENCH_SECONDS, .meaning = "time in which its threads could have run, but waited for a CPU", .is_detail = true, .is_of_machine = true, .is_optional = true},
    [BENCH_OTHER_CPU] = {"other_cpu_seconds", "Others' CPU time", BENCH_SECONDS, .meaning = "CPU time of all other processes of the machine meanwhile", .is_detail = true, .is_of_machine = true, .is_optional = true},
};

const struct bench_cause_info bench_causes[BENCH_CAUSE_COUNT] = {
    [BENCH_CAUSE_WAIT] = {"cpu_wait", "waited for a CPU", "fewer other programs, or CPUs of its own (taskset, cpuset)", 0.05, INFINITY, true},
    [BENCH_CAUSE_QUOTA] = {"cpu_quota", "CPU quota used up", "a higher CPU quota of the control group", 0.01, INFINITY, true},
    [BENCH_CAUSE_STEAL] = {"steal", "CPUs taken by other virtual machines", "a machine that is not shared", 0.01, 0.05, true},
    [BENCH_CAUSE_THROTTLE] = {"throttled", "CPU slowed down for its heat", "pauses between runs (--prepare 'sleep 5'), or a fixed clock", 1, 1, false},
    [BENCH_CAUSE_PAGING] = {"paging", "page faults from storage", "more free RAM", 1, INFINITY, false},
    [BENCH_CAUSE_COLD] = {"cold_cache", "files were not in RAM yet", "--warmup 1", 1, 1, false},
};
/* clang-format on */

const char *bench_unit_name(enum bench_unit unit)
{
    static const char *const names[] = {
        [BENCH_SECONDS] = "seconds", [BENCH_BYTES] = "bytes", [BENCH_JOULES] = "joules"};
    return unit == BENCH_COUNT ? NULL : names[unit];
}

enum bench_figure bench_figure_find(const char *word)
{
    static const struct {
        const char *word;
        enum bench_figure figure;
    } words[] = {{"wall", BENCH_WALL}, {"time", BENCH_WALL}, {"cpu", BENCH_CPU},
        {"user", BENCH_CPU_USER}, {"system", BENCH_CPU_SYSTEM}, {"ram", BENCH_RAM},
        {"gpu_ram", BENCH_GPU_RAM}, {"gpu", BENCH_GPU_TIME}, {"energy", BENCH_ENERGY},
        {"joules", BENCH_ENERGY}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].word, word) == 0)
            return words[i].figure;
    }
    enum bench_figure figure = 0;
    while (figure < BENCH_FIGURE_COUNT && strcmp(bench_figures[figure].key, word) != 0)
        figure++;
    return figure;
}
