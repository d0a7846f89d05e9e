#include "analysis/blocks/block_figures.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "base/text.h"
#include "base/wall_clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- Energy ---- */

/* Reads the number in a file of the kernel. */
static bool read_counter(int fd, uint64_t *value)
{
    char text[32];
    long length = file_reread(fd, text, sizeof text);
    return length > 0 && number_parse_uint64(text, text + length, value) != NULL;
}

/* Reads the name of a zone; "" when it cannot be read. Returns false if there is no such zone. */
static bool read_name(const char *sysfs_root, unsigned i, char name[16])
{
    char path[4096];
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:%u", sysfs_root, i);
    if (access(path, F_OK) != 0)
        return false;
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:%u/name", sysfs_root, i);
    name[0] = '\0';
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        file_reread(fd, name, 16);
    return true;
}

/* Opens the counter of a package. Returns false if it cannot be read. */
static bool open_package(struct block_energy_package *package, const char *sysfs_root, unsigned i)
{
    char path[4096];
    snprintf(
        path, sizeof path, "%s/class/powercap/intel-rapl:%u/max_energy_range_uj", sysfs_root, i);
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !read_counter(fd, &package->range) || package->range == 0)
        return false;
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:%u/energy_uj", sysfs_root, i);
    if (!kept_file_open(&package->file, path, O_RDONLY))
        return false;
    if (!read_counter(package->file.fd, &package->first)) {
        kept_file_close(&package->file);
        return false;
    }
    atomic_init(&package->energy_uj, 0);
    return true;
}

static void close_energy(struct block_figures *figures)
{
    for (unsigned i = 0; i < figures->n_packages; i++)
        kept_file_close(&figures->packages[i].file);
    figures->n_packages = 0;
}

/* Top-level zones are packages and, on laptops, the platform (psys), which includes them. A zone
 * without a readable name may be a package. The energy of only some packages is not that of the
 * machine, so then none is used. */
void block_figures_open_energy(struct block_figures *figures, const char *sysfs_root)
{
    char name[16];
    for (unsigned i = 0; i < BLOCK_FIGURES_MAX_PACKAGES; i++) {
        if (!read_name(sysfs_root, i, name) || text_begins_with(name, "psys"))
            continue;
        struct block_energy_package *package = &figures->packages[figures->n_packages];
        if (!text_begins_with(name, "package") || !open_package(package, sysfs_root, i)) {
            close_energy(figures);
            return;
        }
        figures->n_packages++;
    }
}

/*
 * Reads the energy since the package was opened. The counter wraps after `range`, so differences
 * are added up. Several threads may read at the same time; a difference of more than half the range
 * means that another thread has already counted it.
 */
static bool read_package(struct block_energy_package *package, uint64_t *energy_uj)
{
    uint64_t counter;
    uint64_t before = atomic_load(&package->energy_uj);
    if (!kept_file_is_open(&package->file) || !read_counter(package->file.fd, &counter))
        return false;
    for (;;) {
        uint64_t round = package->range + 1;
        uint64_t seen = (package->first + before) % round;
        uint64_t step = (counter % round + round - seen) % round;
        if (step > package->range / 2)
            step = 0;
        *energy_uj = before + step;
        if (step == 0 || atomic_compare_exchange_weak(&package->energy_uj, &before, before + step))
            return true;
    }
}

/* Returns the energy of all packages in microjoules. */
static int64_t read_energy(struct block_figures *figures)
{
    int64_t sum = figures->n_packages > 0 ? 0 : SUB_TRACKING_UNKNOWN;
    for (unsigned i = 0; i < figures->n_packages; i++) {
        uint64_t energy;
        if (!read_package(&figures->packages[i], &energy))
            return SUB_TRACKING_UNKNOWN;
        sum += (int64_t)energy;
    }
    return sum;
}

/* ---- Peak of RSS, page faults ---- */

static int64_t peak_of(const struct rusage *usage)
{
    return usage->ru_maxrss * INT64_C(1024);
}

void block_figures_open_peak(struct block_figures *figures)
{
    struct rusage usage;
    int64_t bytes;
    memset(&usage, 0, sizeof usage);
    getrusage(RUSAGE_SELF, &usage);
    if (process_peak_high_water(&bytes) && bytes < peak_of(&usage))
        figures->carried_peak_bytes = peak_of(&usage);
    figures->others = process_peak_page();
}

/* Returns the process's own peak while it is below the one from before execve(). Reading takes some
 * microseconds, so it is only read after page faults, without which RSS does not grow. */
static int64_t read_own_peak(struct block_figures *figures)
{
    struct rusage usage;
    memset(&usage, 0, sizeof usage);
    getrusage(RUSAGE_SELF, &usage);
    uint32_t faults = (uint32_t)(usage.ru_minflt + usage.ru_majflt);
    uint64_t known = atomic_load(&figures->own_peak);
    if (known == 0 || (uint32_t)(known >> 32) != faults) {
        int64_t bytes;
        if (!process_peak_high_water(&bytes) || bytes / 1024 > UINT32_MAX)
            return SUB_TRACKING_UNKNOWN;
        uint64_t kib = (uint64_t)bytes / 1024;
        if (kib < (uint32_t)known)
            kib = (uint32_t)known;
        known = (uint64_t)faults << 32 | kib;
        atomic_store(&figures->own_peak, known);
    }
    int64_t bytes = (int64_t)(uint32_t)known * 1024;
    return bytes < figures->carried_peak_bytes ? bytes : figures->carried_peak_bytes;
}

/* ---- Peaks of calls ---- */

int block_figures_open_block_peaks(struct block_figures *figures, struct gput_error *error)
{
    struct block_peaks *peaks = calloc(1, sizeof *peaks);
    if (!peaks)
        return error_memory(error);
    int code = process_peak_open(&peaks->process, error);
    if (code != GPUT_OK) {
        free(peaks);
        return code;
    }
    pthread_mutex_init(&peaks->lock, NULL);
    figures->peaks = peaks;
    return GPUT_OK;
}

/* ---- Counters ---- */

/* Reads the hardware counters of the thread. They are opened at its first mark. */
static void read_counters(struct block_figures *figures, struct block_figures_thread *thread,
    struct sub_tracking_exact *exact)
{
    int64_t counts[BLOCK_COUNTERS];
    if (!thread->counters.is_tried) {
        bool fits = atomic_fetch_add(&figures->n_counted, 1) < BLOCK_COUNTERS_MAX_THREADS;
        block_counters_open(&thread->counters, fits ? block_counter_events : NULL);
    }
    block_counters_read(&thread->counters, counts);
    exact->instructions = counts[0];
    exact->cycles = counts[1];
    exact->cache_misses = counts[2];
}

void block_figures_end_thread(struct block_figures *figures, struct block_figures_thread *thread)
{
    if (figures && thread->counters.is_tried)
        atomic_fetch_sub(&figures->n_counted, 1);
    block_counters_close(&thread->counters);
}

void block_figures_close(struct block_figures *figures)
{
    close_energy(figures);
    if (figures->peaks) {
        process_peak_close(&figures->peaks->process);
        pthread_mutex_destroy(&figures->peaks->lock);
        free(figures->peaks);
    }
    figures->peaks = NULL;
    own_gpu_time_close(figures->gpu_time);
    figures->gpu_time = NULL;
}

/* ---- All of them ---- */

void block_figures_read(struct block_figures *figures, struct block_figures_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_exact *exact)
{
    exact->block_peak_rss_bytes = exact->gpu_ns = SUB_TRACKING_UNKNOWN;
    exact->instructions = exact->cycles = exact->cache_misses = SUB_TRACKING_UNKNOWN;
    if (position == SUB_TRACKING_STOP) {
        /* The thread's clock is read between the reads of the process's clock, so that no block has
         * more thread time than process time. */
        exact->thread_cpu_ns = clock_thread_cpu_ns();
        exact->process_cpu_ns = clock_process_cpu_ns();
        if (figures->has_counters)
            read_counters(figures, thread, exact);
    }
    if (figures->gpu_time)
        exact->gpu_ns = own_gpu_time_read(figures->gpu_time);
    exact->energy_uj = read_energy(figures);
    /* Read the peak of the process and the page faults of the thread. */
    struct rusage usage;
    memset(&usage, 0, sizeof usage);
    getrusage(RUSAGE_THREAD, &usage);
    exact->peak_rss_bytes = peak_of(&usage);
    if (!figures->peaks && exact->peak_rss_bytes == figures->carried_peak_bytes) {
        exact->peak_rss_bytes = read_own_peak(figures);
        if (position == SUB_TRACKING_START) /* exclude the page faults of reading */
            getrusage(RUSAGE_THREAD, &usage);
    }
    int64_t taken = process_peak_taken(figures->others);
    if (taken > 0 && exact->peak_rss_bytes < taken)
        exact->peak_rss_bytes = taken;
    exact->minor_faults = usage.ru_minflt;
    exact->major_faults = usage.ru_majflt;
    if (figures->peaks) {
        /* Read the peak since the last mark, and at a stop the peak of its call. */
        int64_t call_started_ns = thread->call_started_ns;
        struct process_peak_reading reading;
        pthread_mutex_lock(&figures->peaks->lock);
        exact->peak_rss_bytes = exact->block_peak_rss_bytes = SUB_TRACKING_UNKNOWN;
        if (process_peak_read(&figures->peaks->process, &reading)) {
            peak_segments_add(&figures->peaks->segments, wall_clock_ns(), reading.peak_bytes);
            exact->peak_rss_bytes = reading.highest_bytes;
            if (position == SUB_TRACKING_START)
                exact->block_peak_rss_bytes = reading.rss_bytes;
            else if (call_started_ns != 0)
                exact->block_peak_rss_bytes =
                    peak_segments_since(&figures->peaks->segments, call_started_ns);
        }
        pthread_mutex_unlock(&figures->peaks->lock);
    }
    if (position == SUB_TRACKING_START) {
        if (figures->has_counters)
            read_counters(figures, thread, exact);
        exact->process_cpu_ns = clock_process_cpu_ns();
        exact->thread_cpu_ns = clock_thread_cpu_ns();
    }
}

void block_figures_take_thread(
    struct sub_tracking_exact *exact, const struct sub_tracking_exact *of_thread)
{
    exact->thread_cpu_ns = of_thread->thread_cpu_ns;
    exact->minor_faults = of_thread->minor_faults;
    exact->major_faults = of_thread->major_faults;
    exact->instructions = of_thread->instructions;
    exact->cycles = of_thread->cycles;
    exact->cache_misses = of_thread->cache_misses;
}
