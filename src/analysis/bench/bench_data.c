#include "analysis/bench/bench_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first run of a variant is cold if it fetched at least this much more than any later one. */
#define COLD_BYTES 65536

/* Of a file: memory is reserved by the number of blocks. */
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

/* Reads the machine of a kept benchmark. */
static int read_machine(
    const struct doc *object, struct bench_machine *machine, struct gput_error *error)
{
    TRY(read_text(object, "name", &machine->name, error));
    TRY(read_text(object, "cpu_model", &machine->cpu_model, error));
    TRY(read_text(object, "kernel", &machine->kernel, error));
    TRY(read_text(object, "clock_policy", &machine->clock_policy, error));
    TRY(read_text(object, "gpus", &machine->gpus, error));
    machine->n_cores = doc_get_number(object, "cores");
    machine->load = doc_get_number(object, "load");
    machine->ram_bytes = doc_get_number(object, "ram_bytes");
    return GPUT_OK;
}

/* Reads a variant of a kept benchmark, with its parameters. */
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

/* Figures and causes that this version does not know are skipped; others are NaN. */
static int read_run(
    const struct doc *object, const char *name, struct bench_data *data, struct gput_error *error)
{
    int64_t variant = doc_get_int(object, "variant"), block = doc_get_int(object, "block");
    if (variant < 0 || (size_t)variant >= data->n_variants || block < 0 || block >= MAX_BLOCKS)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%.300s is damaged: a run belongs to a variant or block that is not there.", name);
    struct bench_run *run = bench_data_add_run(data, (size_t)variant, (size_t)block);
    if (!run)
        return error_memory(error);
    run->at_seconds = doc_get_number(object, "at_seconds");
    const struct doc *figures = doc_get(object, "figures"), *causes = doc_get(object, "causes");
    for (size_t i = 0; figures && i < BENCH_FIGURE_COUNT; i++)
        run->figures[i] = doc_get_number(figures, bench_figures[i].key);
    for (size_t i = 0; causes && i < BENCH_CAUSE_COUNT; i++)
        run->causes[i] = doc_get_number(causes, bench_causes[i].key);
    return GPUT_OK;
}

/* Reads a kept benchmark: its head, machine, variants and runs. */
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
    if (machine)
        TRY(read_machine(machine, &data->machine, error));
    for (const struct doc *at = variants->first; at; at = at->next)
        TRY(read_variant(at, data, error));
    for (const struct doc *at = runs->first; at; at = at->next)
        TRY(read_run(at, name, data, error));
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
