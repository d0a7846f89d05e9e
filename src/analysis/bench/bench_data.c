#include "analysis/bench/bench_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first run of a variant is cold if it fetched at least this much more than any later one. */
#define COLD_BYTES 65536

/* Maximum of blocks in a file: memory is reserved by their number. */
#define MAX_BLOCKS 1000000

void bench_data_finish(struct bench_data *data)
{
    for (size_t i = 0; i < data->n_variants; i++) {
        struct bench_variant *variant = &data->variants[i];
        for (size_t k = 0; k < variant->n_parameters; k++) {
            free(variant->parameters[k].name);
            free(variant->parameters[k].value);
        }
        free(variant->parameters);
        free(variant->name);
        free(variant->command);
    }
    for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++)
        free(data->missing[i]);
    char *const texts[] = {data->machine.name, data->machine.cpu_model, data->machine.kernel,
        data->machine.clock_policy, data->machine.gpus, data->date, data->version, data->failure};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    free(data->variants);
    free(data->runs);
    *data = (struct bench_data){0};
}

int bench_data_add_variant(struct bench_data *data, const char *name, const char *command,
    struct bench_variant **variant, struct gput_error *error)
{
    struct bench_variant *grown =
        realloc(data->variants, (data->n_variants + 1) * sizeof *data->variants);
    if (!grown)
        return error_memory(error);
    data->variants = grown;
    struct bench_variant added = {.name = strdup(name), .command = strdup(command)};
    if (!added.name || !added.command) {
        free(added.name);
        free(added.command);
        return error_memory(error);
    }
    data->variants[data->n_variants] = added;
    *variant = &data->variants[data->n_variants++];
    return GPUT_OK;
}

int bench_variant_add_parameter(
    struct bench_variant *variant, const char *name, const char *value, struct gput_error *error)
{
    struct bench_parameter *grown =
        realloc(variant->parameters, (variant->n_parameters + 1) * sizeof *variant->parameters);
    if (!grown)
        return error_memory(error);
    variant->parameters = grown;
    struct bench_parameter added = {.name = strdup(name), .value = strdup(value)};
    if (!added.name || !added.value) {
        free(added.name);
        free(added.value);
        return error_memory(error);
    }
    variant->parameters[variant->n_parameters++] = added;
    return GPUT_OK;
}

struct bench_run *bench_data_add_run(struct bench_data *data, size_t variant, size_t block)
{
    if (data->n_runs == data->capacity) {
        size_t capacity = data->capacity ? 2 * data->capacity : 64;
        struct bench_run *grown = realloc(data->runs, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        data->runs = grown;
        data->capacity = capacity;
    }
    struct bench_run *run = &data->runs[data->n_runs++];
    *run = (struct bench_run){.variant = variant,
        .block = block,
        .at_seconds = NAN,
        .status = -1,
        .left_out = BENCH_CAUSE_COUNT};
    for (size_t i = 0; i < BENCH_FIGURE_COUNT; i++)
        run->figures[i] = NAN;
    for (size_t i = 0; i < BENCH_CAUSE_COUNT; i++)
        run->causes[i] = NAN;
    return run;
}

size_t bench_data_count_runs(const struct bench_data *data, size_t variant, size_t *n_counted)
{
    size_t count = 0;
    *n_counted = 0;
    for (size_t i = 0; i < data->n_runs; i++) {
        count += data->runs[i].variant == variant;
        *n_counted +=
            data->runs[i].variant == variant && data->runs[i].left_out == BENCH_CAUSE_COUNT;
    }
    return count;
}

size_t bench_data_values(
    const struct bench_data *data, size_t variant, enum bench_figure figure, double *values)
{
    size_t count = 0;
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct bench_run *run = &data->runs[i];
        if (run->variant == variant && run->left_out == BENCH_CAUSE_COUNT)
            values[count++] = run->figures[figure];
    }
    return count;
}

size_t bench_data_block_count(const struct bench_data *data)
{
    size_t count = 0;
    for (size_t i = 0; i < data->n_runs; i++)
        count = data->runs[i].block >= count ? data->runs[i].block + 1 : count;
    return count;
}

void bench_data_blocks(
    const struct bench_data *data, size_t variant, enum bench_figure figure, double *values)
{
    size_t count = bench_data_block_count(data);
    for (size_t i = 0; i < count; i++)
        values[i] = NAN;
    for (size_t i = 0; i < data->n_runs; i++) {
        const struct bench_run *run = &data->runs[i];
        if (run->variant == variant && run->left_out == BENCH_CAUSE_COUNT)
            values[run->block] = run->figures[figure];
    }
}

/* A first run that fetched what no later one had to. Storage of one later run alone says nothing:
 * the first has to differ from all of them. */
static void find_cold_run(struct bench_data *data, size_t variant)
{
    struct bench_run *first = NULL;
    double most_bytes = 0, most_faults = 0;
    size_t n_later = 0;
    for (size_t i = 0; i < data->n_runs; i++) {
        struct bench_run *run = &data->runs[i];
        if (run->variant != variant)
            continue;
        if (!first) {
            first = run;
            continue;
        }
        n_later++;
        most_bytes = fmax(most_bytes, run->figures[BENCH_STORAGE_READ]);
        most_faults = fmax(most_faults, run->figures[BENCH_MAJOR_FAULTS]);
    }
    if (!first || n_later == 0)
        return;
    double bytes = first->figures[BENCH_STORAGE_READ], faults = first->figures[BENCH_MAJOR_FAULTS];
    bool is_known = !isnan(bytes) || !isnan(faults);
    bool is_cold = bytes >= most_bytes + COLD_BYTES || faults > most_faults;
    first->causes[BENCH_CAUSE_COLD] = is_known ? is_cold : NAN;
}

void bench_data_judge_runs(struct bench_data *data)
{
    for (size_t variant = 0; variant < data->n_variants; variant++) {
        find_cold_run(data, variant);
        size_t n_runs = 0, n_left = 0;
        for (size_t i = 0; i < data->n_runs; i++) {
            struct bench_run *run = &data->runs[i];
            if (run->variant != variant)
                continue;
            run->left_out = 0;
            while (run->left_out < BENCH_CAUSE_COUNT &&
                   !(run->causes[run->left_out] >= bench_causes[run->left_out].leaves_out))
                run->left_out++;
            n_runs++;
            n_left += run->left_out < BENCH_CAUSE_COUNT;
        }
        for (size_t i = 0; i < data->n_runs && 3 * n_left > n_runs; i++) {
            if (data->runs[i].variant == variant)
                data->runs[i].left_out = BENCH_CAUSE_COUNT;
        }
    }
}

/* ---- Reading it back ---- */

/* Copies a text of a document; a text that is missing stays NULL. */
static int read_text(
    const struct doc *object, const char *key, char **text, struct gput_error *error)
{
    const char *value = doc_string(doc_get(object, key));
    *text = value ? strdup(value) : NULL;
    return value && !*text ? error_memory(error) : GPUT_OK;
}

/* Reads a variant with its parameters. */
static int read_variant(const struct doc *object, struct bench_data *data, struct gput_error *error)
{
    struct bench_variant *variant;
    TRY(bench_data_add_variant(
        data, doc_get_string(object, "name"), doc_get_string(object, "command"), &variant, error));
    const struct doc *parameters = doc_get(object, "parameters");
    for (const struct doc *at = parameters ? parameters->first : NULL; at; at = at->next) {
        if (at->kind == DOC_STRING)
            TRY(bench_variant_add_parameter(variant, at->key, at->string, error));
    }
    return GPUT_OK;
}

/* Reads machine, variants and runs of a file of results. */
static int read_all(
    const struct doc *doc, const char *name, struct bench_data *data, struct gput_error *error)
{
    const struct doc *machine = doc_get(doc, "machine"), *variants = doc_get(doc, "variants");
    const struct doc *runs = doc_get(doc, "runs");
    if (!doc_get(doc, "bench") || !variants || !runs)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%.300s is not a file of gpu-tracker bench. Make one with: gpu-tracker bench -o "
            "main.json -- COMMAND",
            name);
    TRY(read_text(doc_get(doc, "bench"), "date", &data->date, error));
    if (machine) {
        TRY(read_text(machine, "name", &data->machine.name, error));
        TRY(read_text(machine, "cpu_model", &data->machine.cpu_model, error));
        TRY(read_text(machine, "kernel", &data->machine.kernel, error));
        TRY(read_text(machine, "clock_policy", &data->machine.clock_policy, error));
        TRY(read_text(machine, "gpus", &data->machine.gpus, error));
        data->machine.n_cores = doc_get_number(machine, "cores");
        data->machine.load = doc_get_number(machine, "load");
        data->machine.ram_bytes = doc_get_number(machine, "ram_bytes");
    }
    for (const struct doc *at = variants->first; at; at = at->next)
        TRY(read_variant(at, data, error));
    for (const struct doc *at = runs->first; at; at = at->next) {
        /* Figures and causes that this version does not know are skipped; others are NaN. */
        int64_t variant = doc_get_int(at, "variant"), block = doc_get_int(at, "block");
        if (variant < 0 || (size_t)variant >= data->n_variants || block < 0 || block >= MAX_BLOCKS)
            return error_set(error, GPUT_ERROR_FORMAT,
                "%.300s is damaged: a run belongs to a variant or block that is not there.", name);
        struct bench_run *run = bench_data_add_run(data, (size_t)variant, (size_t)block);
        if (!run)
            return error_memory(error);
        run->at_seconds = doc_get_number(at, "at_seconds");
        const struct doc *figures = doc_get(at, "figures"), *causes = doc_get(at, "causes");
        for (size_t i = 0; figures && i < BENCH_FIGURE_COUNT; i++)
            run->figures[i] = doc_get_number(figures, bench_figures[i].key);
        for (size_t i = 0; causes && i < BENCH_CAUSE_COUNT; i++)
            run->causes[i] = doc_get_number(causes, bench_causes[i].key);
    }
    if (data->n_runs == 0)
        return error_set(error, GPUT_ERROR_FORMAT, "%.300s has no runs.", name);
    return GPUT_OK;
}

int bench_data_read(
    const struct doc *doc, const char *name, struct bench_data *data, struct gput_error *error)
{
    *data = (struct bench_data){0};
    int code = read_all(doc, name, data, error);
    if (code == GPUT_OK)
        bench_data_judge_runs(data);
    else
        bench_data_finish(data);
    return code;
}

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
