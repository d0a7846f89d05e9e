/* Reading: each file of a session becomes a rank; files of one session are put together later. */
#include "views/jobs/jobs.h"

#include "base/array.h"
#include "base/file.h"
#include "base/names.h"
#include "base/text.h"
#include "files/results/results_read.h"
#include "files/spool_note.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_reader.h"
#include "model/results_columns.h"
#include "model/results_identity.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_DEPTH 8
/* The last sample is taken at the end. If the time after it is longer than this, samples are
 * missing. */
#define MAX_MISSING_SECONDS 1
#define MAX_MISSING_SAMPLES 2

/* Larger figures are taken for damage: no job has as many ranks, none lasts a thousand years. */
#define MAX_RANKS 1e7
#define MAX_SECONDS 3.2e10
#define MAX_BYTES 1e18
#define MAX_CPU 1e15
/* Tolerance for CPU time above what all cores can give: the kernel's counters are not exact. */
#define MAX_CPU_FACTOR 2
#define MAX_CPU_MORE 10

#define COPY(to, from) text_fit(to, sizeof to, "%s", from)

/* ---- A rank ---- */

/* Adds a rank without figures. NULL without memory. */
static struct jobs_rank *add_rank(struct gput_jobs *jobs, const char *path)
{
    if (!ARRAY_EXTEND(jobs->ranks, jobs->n_ranks)) {
        jobs->failed = true;
        return NULL;
    }
    struct jobs_rank *rank = &jobs->ranks[jobs->n_ranks];
    *rank = (struct jobs_rank){.path = strdup(path), .folder = jobs->folder};
    double *figures[] = {&rank->pid, &rank->rank, &rank->world_size, &rank->restarts,
        &rank->node_rank, &rank->node_count, &rank->exit_status, &rank->signal, &rank->start,
        &rank->end, &rank->seconds, &rank->cpu_seconds, &rank->mpi_seconds, &rank->cores,
        &rank->shared_cores, &rank->slurm_cores, &rank->system_cores, &rank->system_busy_cores,
        &rank->max_ram_bytes, &rank->allowed_ram_bytes, &rank->group_ram_bytes,
        &rank->slurm_ram_bytes, &rank->ram_of_limit_bytes, &rank->max_gpu_ram_bytes,
        &rank->read_bytes, &rank->written_bytes, &rank->gpu_percent, &rank->gpus,
        &rank->system_gpus, &rank->energy_joules, &rank->machine_joules, &rank->node_seconds,
        &rank->samples, &rank->rows_lost, &rank->oom_killed, &rank->limit,
        &rank->time_limit_seconds, &rank->first_sample, &rank->busy_cores,
        &rank->efficiency_percent, &rank->waited_seconds};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        *figures[i] = NAN;
    rank->time_went.seconds = rank->time_went.samples = NAN;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        rank->time_went.seconds_of[i] = NAN;
    jobs->failed |= !rank->path;
    jobs->n_ranks++;
    return rank;
}

static double known(double value, double other)
{
    return isnan(value) ? other : value;
}

/* Copies the identity of a session and of its job. */
static void copy_identity(struct jobs_rank *rank, const struct gput_results *results)
{
    const struct gput_identity *identity = &results->identity;
    COPY(rank->launcher, identity->launcher);
    COPY(rank->job_id, identity->job_id);
    COPY(rank->task, identity->task);
    COPY(rank->step, identity->step);
    COPY(rank->run, identity->run);
    COPY(rank->host, identity->host);
    COPY(rank->node, identity->node[0] ? identity->node : identity->host);
    COPY(rank->boot_id, identity->boot_id);
    COPY(rank->clock, identity->clock);
    COPY(rank->cpus, identity->cpus);
    COPY(rank->command, identity->command);
    COPY(rank->version, identity->version);
    COPY(rank->user, identity->user);
    COPY(rank->job_name, identity->job_name);
    rank->time_limit_seconds = identity->time_limit_seconds;
    COPY(rank->session_id, identity->session_id);
    COPY(rank->within, identity->within);
    COPY(rank->start_text, identity->start);
    rank->cgroup = names_hash(identity->cgroup, strlen(identity->cgroup));
    rank->rows_lost = (double)results->tracker.rows_lost;
    rank->pid = identity->pid;
    rank->has_ranks_of_descendants = strcmp(identity->ranks_of, "descendants") == 0;
    if (isnan(identity->rank))
        COPY(rank->ranks, identity->ranks);
    rank->rank = rank->ranks[0]
                     ? NAN
                     : known(identity->rank, results_identity_rank_of(file_base_name(rank->path)));
    rank->world_size = identity->world_size;
    jobs_set_name_from_pod(rank, identity->pod);
    rank->restarts = identity->restarts;
    rank->node_rank = identity->node_rank;
    rank->node_count = identity->node_count;
    rank->exit_status = identity->exit_status;
    rank->signal = identity->signal;
    rank->first_sample =
        identity->first_sample[0] ? results_identity_seconds(identity->first_sample) : NAN;
    rank->start = identity->start[0] ? results_identity_seconds(identity->start) : NAN;
    rank->end = identity->end[0] ? results_identity_seconds(identity->end) : NAN;
}

/* Removes impossible figures, each with a finding: they come from damaged files. */
static void check_figures(struct gput_jobs *jobs, struct jobs_rank *rank)
{
    double all_cores = rank->seconds > 0 ? rank->seconds * rank->system_cores : NAN;
    struct {
        const char *name;
        double *figure, most;
    } figures[] = {{"rank", &rank->rank, MAX_RANKS}, {"world size", &rank->world_size, MAX_RANKS},
        {"number of restarts", &rank->restarts, MAX_RANKS},
        {"number of a machine", &rank->node_rank, MAX_RANKS},
        {"number of machines", &rank->node_count, MAX_RANKS},
        {"exit status", &rank->exit_status, UINT32_MAX}, {"signal", &rank->signal, UINT32_MAX},
        {"wall time", &rank->seconds, MAX_SECONDS},
        {"number of cores", &rank->system_cores, MAX_RANKS},
        {"number of allowed cores", &rank->cores, MAX_RANKS},
        {"number of GPUs", &rank->gpus, MAX_RANKS},
        {"CPU time", &rank->cpu_seconds, fmin(MAX_CPU_FACTOR * all_cores + MAX_CPU_MORE, MAX_CPU)},
        {"RAM", &rank->max_ram_bytes, MAX_BYTES}, {"GPU RAM", &rank->max_gpu_ram_bytes, MAX_BYTES}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        double value = *figures[i].figure;
        if (isnan(value) || (value >= 0 && value <= figures[i].most))
            continue;
        jobs_add_finding(jobs, NAN, "damaged", NULL,
            "%s has a%s %s that cannot be right, %.4g: it is skipped", rank->path,
            figures[i].name[0] == 'e' ? "n" : "", figures[i].name, value);
        *figures[i].figure = NAN;
    }
}

/* Copies the cores and RAM that a session may use. */
static void copy_allocation(struct jobs_rank *rank, const struct gput_results *results)
{
    const struct gput_allowed *allowed = &results->allowed;
    const struct gput_static_data *data = &results->static_data;
    double quota = allowed->quota_cores, cpuset = allowed->cpuset_cores;
    rank->system_cores = data->system_core_count > 0 ? data->system_core_count : NAN;
    rank->cores = known(data->allowed_cores, rank->system_cores);
    rank->shared_cores = isnan(quota) || cpuset < quota ? cpuset : quota;
    rank->slurm_cores = allowed->slurm_cores;
    rank->allowed_ram_bytes = data->allowed_ram_bytes;
    rank->group_ram_bytes = allowed->memory_max_bytes;
    rank->slurm_ram_bytes = allowed->slurm_ram_bytes;
}

/* Copies the reasons for its end: a limit, or lack of memory. */
static void copy_reasons(struct jobs_rank *rank, const struct gput_results *results)
{
    rank->oom_killed = results->accounting.oom_killed;
    COPY(rank->oom_reason, results->accounting.oom_killed_reason);
    if (!results->limit.enforced)
        return;
    COPY(rank->limit_enforced, results->limit.kind_name);
    rank->limit = results->limit.value;
}

/* Copies the figures of what a session used. */
static void copy_figures(
    struct gput_jobs *jobs, struct jobs_rank *rank, const struct gput_results *results)
{
    const struct gput_energy *energy = &results->energy;
    double mean_cores = results->mean[GPUT_CPU_COMBINED_SUM] / 100;
    rank->seconds = results->elapsed_seconds;
    rank->time_went = results->time_went;
    rank->system_busy_cores = results->mean[GPUT_CPU_SYSTEM_SUM] / 100;
    rank->cpu_seconds = known(
        known(results->accounting.kernel_cpu_seconds, results->accounting.sampled_cpu_seconds),
        mean_cores * results->elapsed_seconds);
    rank->max_ram_bytes = results->max[GPUT_COMBINED_RAM];
    rank->ram_of_limit_bytes = results_ram_of_limit(results, rank->max_ram_bytes);
    rank->read_bytes = results->accounting.read_bytes;
    rank->written_bytes = results->accounting.write_bytes;
    rank->gpus = results->static_data.n_expected_gpus;
    rank->system_gpus = results->static_data.system_gpu_count;
    rank->max_gpu_ram_bytes = rank->gpus > 0 ? results->max[GPUT_COMBINED_GPU_RAM] : NAN;
    rank->gpu_percent = rank->gpus > 0 ? results->mean[GPUT_GPU_HARDWARE_UTILIZATION] : NAN;
    rank->energy_joules = energy->combined;
    rank->machine_joules = isnan(energy->machine.package)
                               ? energy->machine.dram
                               : energy->machine.package + known(energy->machine.dram, 0);
    rank->node_seconds = results->tracker.node_seconds;
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        const struct gput_gpu *seen = &results->gpus[i];
        if (!seen->selected)
            continue;
        if (!ARRAY_EXTEND(jobs->gpus, jobs->n_gpus)) {
            jobs->failed = true;
            return;
        }
        struct jobs_gpu *gpu = &jobs->gpus[jobs->n_gpus++];
        *gpu = (struct jobs_gpu){.rank = jobs->n_ranks - 1,
            .joules = seen->now.joules,
            .percent = seen->mean_utilization_percent};
        COPY(gpu->uuid, seen->uuid);
    }
}

/* Adds a rank with the results of a file. */
static void add_results(
    struct gput_jobs *jobs, const char *path, unsigned files, const struct gput_results *results)
{
    struct jobs_rank *rank = add_rank(jobs, path);
    if (!rank)
        return;
    rank->files = files;
    copy_identity(rank, results);
    copy_allocation(rank, results);
    copy_reasons(rank, results);
    copy_figures(jobs, rank, results);
    rank->ram_is_at_least = files == JOBS_KEPT && !isnan(rank->max_ram_bytes);
    rank->mpi_seconds = files == JOBS_REPORT ? results->mpi_seconds : NAN;
    check_figures(jobs, rank);
}

/* ---- Reports and what killed sessions left ---- */

/* Adds a rank from a manifest beside a report that has no identity. False: it cannot be read. */
static bool read_manifest(struct gput_jobs *jobs, const char *path)
{
    struct gput_results results = {0};
    CLEANUP_FREE char *described = tracking_identity_described(path);
    if (!described || text_ends_with(described, ".csv") || text_ends_with(described, ".sqlite"))
        return true; /* the samples are read with it; they may have been renamed */
    results_forget(&results);
    if (!tracking_identity_read(described, &results))
        return false;
    add_results(jobs, path, JOBS_KEPT, &results);
    if (jobs->n_ranks > 0 && results.identity.end[0])
        jobs->ranks[jobs->n_ranks - 1].ram_is_at_least = false;
    return true;
}

/* ---- Tracking files ---- */

/* Computes times and CPU time from samples. If a disk was full, the end is known but has no
 * samples. CPU time is unknown where rows were lost or the file of a finished session is damaged;
 * for a session without an end it is the CPU time so far. */
static void compute_times(
    const struct tracking_samples *samples, bool is_damaged, struct jobs_rank *rank)
{
    double interval =
        samples->count > 1 ? (samples->last - samples->first) / (samples->count - 1) : 0;
    double missing = rank->end > samples->last ? rank->end - samples->last : 0;
    double before =
        samples->first - rank->start; /* the first row includes what was used before it */
    rank->start = known(rank->start, samples->first);
    rank->seconds = samples->jump == 0 ? samples->last + missing - rank->start : NAN;
    rank->cpu_seconds = NAN;
    if (samples->cpu_count > 0 && !(rank->rows_lost > 0))
        rank->cpu_seconds =
            samples->cpu_seconds + known(fmax(before, 0) * samples->first_cpu_percent / 100, 0);
    if (is_damaged && !isnan(rank->end))
        rank->cpu_seconds = NAN;
    if (samples->count == 0 || samples->jump != 0 ||
        missing < MAX_MISSING_SECONDS + MAX_MISSING_SAMPLES * interval)
        return;
    rank->cpu_seconds = NAN;
    rank->missing_seconds = missing;
}

/* Adds a rank with the samples of a tracking file. */
static void add_samples(struct gput_jobs *jobs, const char *path,
    const struct tracking_samples *samples, const struct tracking_reader *reader,
    struct gput_results *results)
{
    bool is_damaged = tracking_reader_rows_skipped(reader) > 0 || tracking_reader_warning(reader);
    bool has_figures = !isnan(results->elapsed_seconds);
    struct jobs_rank *rank = add_rank(jobs, path);
    if (!rank)
        return;
    double cores = results->static_data.allowed_cores, ram = results->static_data.allowed_ram_bytes;
    results->static_data = *tracking_reader_static_data(reader);
    results->static_data.allowed_cores = cores;
    results->static_data.allowed_ram_bytes = ram;
    rank->files = JOBS_SAMPLES;
    copy_identity(rank, results);
    copy_allocation(rank, results);
    copy_reasons(rank, results);
    if (has_figures)
        copy_figures(jobs, rank, results);
    else
        compute_times(samples, is_damaged, rank);
    if (!has_figures) {
        /* Compute the figures of a session from its samples, where the file lacks those of its end.
         */
        const struct gput_static_data *data = &results->static_data;
        rank->max_ram_bytes = round(samples->max_ram / gput_ram_unit_factor(data->ram_unit));
        rank->ram_is_at_least = !isnan(rank->max_ram_bytes);
        rank->ram_of_limit_bytes = results_ram_of_limit(results, rank->max_ram_bytes);
        rank->gpus = data->n_expected_gpus;
        rank->system_gpus = data->system_gpu_count;
        rank->max_gpu_ram_bytes =
            rank->gpus > 0 ? round(samples->max_gpu_ram / gput_ram_unit_factor(data->gpu_ram_unit))
                           : NAN;
        rank->gpu_percent =
            rank->gpus > 0 && samples->gpu_count > 0 ? samples->gpu_sum / samples->gpu_count : NAN;
        if (rank->rows_lost > 0) /* the rows are only a part */
            rank->gpu_percent = NAN;
        else if (samples->system_count > 0)
            rank->system_busy_cores = samples->system_sum / samples->system_count / 100;
    }
    rank->samples = samples->count;
    check_figures(jobs, rank);
    rank->samples_hash = tracking_samples_hash(samples);
    rank->first_row = samples->first_row;
    rank->first_sample = samples->first;
}

/* Reads a tracking file. False: it is damaged, or cannot be read. */
static bool read_samples(struct gput_jobs *jobs, const char *path, struct gput_error *error)
{
    struct tracking_reader *reader;
    struct tracking_samples samples;
    struct gput_results results = {0};
    results_forget(&results);
    if (tracking_reader_salvage(path, &reader, error) != GPUT_OK)
        return false;
    int code = tracking_samples_read(reader, &samples, error);
    if (code == GPUT_OK)
        code = tracking_identity_of(reader, path, &results, error);
    const char *warning = tracking_reader_warning(reader);
    if (code == GPUT_ERROR_FORMAT && samples.count > 0) {
        warning = warning ? warning : error->message;
        code = GPUT_OK;
    }
    if (code == GPUT_OK)
        add_samples(jobs, path, &samples, reader, &results);
    uint64_t skipped = tracking_reader_rows_skipped(reader);
    if (code == GPUT_OK && samples.jump != 0 && !warning && isnan(results.elapsed_seconds))
        jobs_add_finding(jobs, NAN, "clock", NULL,
            "Times in %s jump by %.1f s, so its duration is not known: the clock of its machine "
            "was set, or the machine was suspended",
            path, samples.jump);
    if (code == GPUT_OK && skipped > 0)
        jobs_add_finding(jobs, NAN, "damaged", warning, "%s is damaged: %llu row%s skipped", path,
            (unsigned long long)skipped, skipped > 1 ? "s were" : " was");
    else if (code == GPUT_OK && warning)
        jobs_add_finding(jobs, NAN, "damaged", warning, "%s is damaged", path);
    tracking_reader_close(reader);
    results_finish(&results);
    return code == GPUT_OK;
}

/* ---- Files and folders ---- */

/* True for files of marks: CSV and SQLite have the names of the columns in their first bytes. */
static bool has_marks(const char *path)
{
    char bytes[4096];
    size_t length = file_read_beginning(path, bytes, sizeof bytes);
    return memmem(bytes, length, "code_block_name", strlen("code_block_name")) != NULL;
}

/* True for a table that `gpu-tracker job -f csv` wrote. */
static bool is_our_table(const char *path)
{
    static const char columns[] = "job,rank,machine,host,boot_id,";
    char bytes[sizeof columns - 1];
    return file_read_beginning(path, bytes, sizeof bytes) == sizeof bytes &&
           memcmp(bytes, columns, sizeof bytes) == 0;
}

/* True for a CSV that is no tracking file: these begin with the name of their first column, or
 * with a part of it if they are truncated. */
static bool is_foreign_csv(const char *path)
{
    static const char mark[] = "\xef\xbb\xbf", column[] = "ram_unit";
    char bytes[sizeof mark + sizeof column];
    size_t length = file_read_beginning(path, bytes, sizeof bytes);
    size_t start =
        length >= strlen(mark) && memcmp(bytes, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    length = length - start < strlen(column) ? length - start : strlen(column);
    return text_ends_with(path, ".csv") && memcmp(bytes + start, column, length) != 0;
}

/* Remembers a file of marks. */
static void add_marks(struct gput_jobs *jobs, const char *path)
{
    char *kept = strdup(path);
    if (kept && ARRAY_EXTEND(jobs->marks, jobs->n_marks)) {
        jobs->marks[jobs->n_marks++] = (struct jobs_marks){kept, JOBS_NO_RANK};
        return;
    }
    free(kept);
    jobs->failed = true;
}

/* ---- Spools ---- */

/* True where files of a spool folder were read already: each spooled file has a note that names
 * the same folder. */
static bool has_read_from(const struct gput_jobs *jobs, const char *folder)
{
    size_t length = strlen(folder);
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        if (strncmp(jobs->ranks[i].path, folder, length) == 0 && jobs->ranks[i].path[length] == '/')
            return true;
    }
    return false;
}

static int read_path(struct gput_jobs *jobs, const char *path, int depth, struct gput_error *error);

/* Reads what a killed tracker left in its spool, if that is on this machine. */
static void read_note(struct gput_jobs *jobs, const char *path, int depth)
{
    struct spool_note note;
    if (!spool_note_read(path, &note)) {
        jobs_add_finding(jobs, NAN, "unreadable", NULL,
            "%s does not say where files were spooled: they may still be there", path);
        return;
    }
    bool is_here = spool_note_is_of_this_host(&note) && note.folder[0] == '/' && !jobs->is_in_spool;
    jobs->is_in_spool = is_here;
    bool is_read = is_here && (has_read_from(jobs, note.folder) ||
                                  read_path(jobs, note.folder, depth + 1, NULL) == GPUT_OK);
    jobs->is_in_spool = false;
    char evidence[sizeof note + 32];
    snprintf(evidence, sizeof evidence, "host %s, folder %s", note.host, note.folder);
    jobs_add_finding(jobs, NAN, "spooled", evidence,
        is_read ? "%s: its files stayed where they were spooled, and were read there"
                : "%s: its files stayed where they were spooled",
        path);
}

/* Reads a file if it is one of a session. */
static void read_file(struct gput_jobs *jobs, const char *path, off_t size, int depth)
{
    struct gput_error error = {0};
    struct spool_note note;
    bool is_samples = text_ends_with(path, ".csv") || text_ends_with(path, ".sqlite"),
         is_read = true;
    const char *name = file_base_name(path);
    bool is_kept = text_begins_with(name, ".gpu-tracker_"), is_named = depth == 0;
    if (name[0] == '.' && !is_kept && !is_named)
        return;
    if (text_ends_with(path, TRACKING_IDENTITY_EXTENSION)) {
        is_read = read_manifest(jobs, path);
    } else if (text_ends_with(path, SPOOL_NOTE_EXTENSION)) {
        read_note(jobs, path, depth);
    } else if (size == 0 && is_samples && spool_note_of(path, &note)) {
        char *note_path; /* in a folder, the note is read by itself */
        if (is_named && asprintf(&note_path, "%s" SPOOL_NOTE_EXTENSION, path) >= 0) {
            read_note(jobs, note_path, depth);
            free(note_path);
        }
    } else if (size == 0 && (is_samples || text_ends_with(path, ".json"))) {
        jobs_add_finding(jobs, NAN, "empty", NULL,
            "%s is empty: its tracker was ended before it could write", path);
    } else if ((is_samples && has_marks(path)) || text_ends_with(path, ".gputblocks")) {
        add_marks(jobs, path);
    } else if (is_samples && (is_our_table(path) || (!is_named && is_foreign_csv(path)))) {
        jobs->files_left_out++;
    } else if (is_samples) {
        is_read = read_samples(jobs, path, &error);
    } else if ((size_t)size > RESULTS_MAX_BYTES) {
        jobs->files_left_out++;
    } else {
        /* Read a file of results. False: it is damaged, or cannot be read. */
        struct gput_results results = {0};
        enum results_form form;
        int code = results_read(path, &results, &form, &error);
        if (code == GPUT_OK)
            add_results(jobs, path, form == RESULTS_KEPT ? JOBS_KEPT : JOBS_REPORT, &results);
        else if (code == GPUT_ERROR_UNSUPPORTED)
            jobs->files_left_out++; /* written by another program */
        results_finish(&results);
        is_read = code == GPUT_OK || code == GPUT_ERROR_UNSUPPORTED;
    }
    jobs->failed |= error.code == GPUT_ERROR_MEMORY;
    if (!is_read)
        jobs_add_finding(jobs, NAN, "unreadable", error.message, "%s could not be read", path);
}

/* Reads a file or a folder. */
static int read_path(struct gput_jobs *jobs, const char *path, int depth, struct gput_error *error)
{
    struct stat info, link;
    if (lstat(path, &link) != 0)
        return error_set_errno(error, errno, "%s", path);
    if (stat(path, &info) != 0)
        return depth == 0 || text_ends_with(path, ".json") || text_ends_with(path, ".csv") ||
                       text_ends_with(path, ".sqlite")
                   ? error_set_errno(error, errno, "%s", path)
                   : GPUT_OK; /* a dangling link */
    if (S_ISDIR(info.st_mode) && S_ISLNK(link.st_mode) && depth > 0)
        return GPUT_OK; /* the link may lead to a folder above this one */
    if (S_ISDIR(info.st_mode)) {
        /* Read all files in a folder and in those below it. */
        struct dirent **entries;
        struct gput_error reason;
        int count = scandir(path, &entries, NULL, file_by_name);
        size_t above = jobs->folder;
        if (count < 0)
            return error_set_errno(error, errno, "%s", path);
        size_t folder = ++jobs->n_folders;
        for (int i = 0; i < count; i++) {
            char *below;
            jobs->folder = folder;
            bool is_self =
                strcmp(entries[i]->d_name, ".") == 0 || strcmp(entries[i]->d_name, "..") == 0;
            if (!is_self && asprintf(&below, "%s/%s", path, entries[i]->d_name) >= 0) {
                if (depth < MAX_DEPTH && read_path(jobs, below, depth + 1, &reason) != GPUT_OK)
                    jobs_add_finding(
                        jobs, NAN, "unreadable", reason.message, "%s could not be read", below);
                free(below);
            }
            free(entries[i]);
        }
        free(entries);
        jobs->folder = above;
        return GPUT_OK;
    }
    if (S_ISREG(info.st_mode))
        read_file(jobs, path, info.st_size, depth);
    return GPUT_OK;
}

int jobs_read(struct gput_jobs *jobs, const char *path, struct gput_error *error)
{
    return read_path(jobs, path, 0, error);
}
