#include "analysis/size/size.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/sized.h"
#include "base/table.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* An upper bound above this multiple of the seen peak is not used in its place. */
#define USEFUL_BOUND 1.5

/* A run that took this part of its time limit was ended by the limit. */
#define NEAR_TIME_LIMIT 0.95

void gput_size_options_init(struct gput_size_options *options, size_t size)
{
    const struct gput_size_options defaults = {
        .size = sizeof defaults, .share = 0.95, .input_bytes = NAN, .ranks = NAN};
    sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- The runs ---- */

/* How a run ended, as far as it matters for what it wanted. */
enum run_end {
    RUN_ENDED_WELL,
    RUN_LACKED_RAM,
    RUN_LACKED_TIME,
    RUN_FAILED, /* or its end is unknown */
};

/* Returns how a session ended: well, for lack of RAM or time, or otherwise. */
static enum run_end end_of(const struct gput_table *table, size_t row)
{
    double status = table_cells_number_of(table, row, "exit_status"),
           signal = table_cells_number_of(table, row, "signal");
    double wall = table_cells_number_of(table, row, "wall_seconds");
    double time_limit = table_cells_number_of(table, row, "time_limit_seconds");
    const char *limit = table_cells_text_of(table, row, "limit_passed");
    if (table_cells_number_of(table, row, "limit_enforced") > 0)
        return strcmp(limit, "ram") == 0       ? RUN_LACKED_RAM
               : strcmp(limit, "seconds") == 0 ? RUN_LACKED_TIME
                                               : RUN_FAILED;
    if (status == 0 && !(signal > 0))
        return RUN_ENDED_WELL;
    if (table_cells_number_of(table, row, "oom_killed") > 0)
        return RUN_LACKED_RAM;
    bool is_ended_by_other = signal == SIGTERM || signal == SIGKILL || status == 128 + SIGTERM ||
                             status == 128 + SIGKILL;
    return is_ended_by_other && wall >= NEAR_TIME_LIMIT * time_limit ? RUN_LACKED_TIME : RUN_FAILED;
}

/*
 * Returns the limit of RAM that a run needs. The peak is at least `seen`. It is at most what the
 * kernel's figures allow, and a limit never needs more than the kernel charged to a group of
 * exactly these processes. A bound that is far away is not used; the size counts such runs. For
 * a job it is the sum of the ranks on the fullest machine.
 */
static double ram_of(struct gput_size *size, const struct gput_table *table, size_t row)
{
    double seen = table_cells_number_of(table, row, "ram_bytes");
    double at_most = table_cells_number_of(table, row, "ram_at_most_bytes");
    double charged = table_cells_number_of(table, row, "group_ram_bytes");
    double of_ranks = table_cells_number_of(table, row, "node_ram_bytes");
    if (table_cells_number_of(table, row, "ranks") > 1)
        return of_ranks; /* the largest rank does not tell their sum */
    if (charged >= seen && !(at_most <= charged))
        at_most = charged;
    if (isnan(seen) || at_most <= USEFUL_BOUND * seen)
        return fmax(seen, at_most);
    size->n_loose++;
    size->n_unbounded += isnan(at_most);
    size->loose_bytes = fmax(size->loose_bytes, at_most);
    return seen;
}

/* Adds a value of a run. Without memory *lacks_memory is set. */
static void add_value(struct size_evidence *runs, enum size_quantity quantity,
    struct size_value value, bool *lacks_memory)
{
    if (!(value.value > 0) || !isfinite(value.value))
        return;
    if (ARRAY_EXTEND(runs->values[quantity], runs->counts[quantity]))
        runs->values[quantity][runs->counts[quantity]++] = value;
    else
        *lacks_memory = true;
}

/* Adds what a run took. One that was ended for lack of something wanted more of that, and of all
 * that it had not used up yet. */
static int add_run(struct gput_size *size, const struct gput_table *table, size_t row,
    enum run_end end, struct gput_error *error)
{
    double input = table_cells_number_of(table, row, "input_bytes"), ram = ram_of(size, table, row);
    double ranks = table_cells_number_of(table, row, "ranks");
    double wall = table_cells_number_of(table, row, "wall_seconds"),
           cpu = table_cells_number_of(table, row, "cpu_seconds");
    double cores = fmax(table_cells_number_of(table, row, "max_cores"), cpu / wall);
    double start = table_cells_number_of(table, row, "start_seconds");
    double allowed = fmin(table_cells_number_of(table, row, "allowed_ram_bytes"),
        table_cells_number_of(
            table, row, "machine_ram_bytes")); /* of --limit only what the machine had */
    bool is_cut = end != RUN_ENDED_WELL, lacks_memory = false;
    if (end == RUN_LACKED_RAM && !(table_cells_number_of(table, row, "limit_enforced") > 0))
        ram = fmax(ram, allowed);
    if (!isnan(cores)) /* CPU clocks of a short sample may exceed the cores */
        cores = fmin(cores, table_cells_number_of(table, row, "machine_cores"));
    const struct size_value values[] = {
        [SIZE_RAM] = {ram, is_cut, input, ranks},
        [SIZE_WALL] = {wall, is_cut, input, ranks},
        [SIZE_CORES] = {cores, false, NAN, NAN},
        /* For a job it is known for each rank only, and GPUs are requested per machine. */
        [SIZE_GPUS] = {ranks > 1 ? NAN : table_cells_number_of(table, row, "gpus_used"), false, NAN,
            NAN},
        [SIZE_GPU_RAM] = {table_cells_number_of(table, row, "gpu_ram_bytes"), is_cut, input, ranks},
    };
    size->has_inputs |= !isnan(input);
    for (int quantity = 0; quantity < SIZE_QUANTITY_COUNT; quantity++)
        add_value(&size->runs, (enum size_quantity)quantity, values[quantity], &lacks_memory);
    size->first_seconds = fmin(size->first_seconds, start);
    size->last_seconds = fmax(size->last_seconds, start);
    size->machine_ram_bytes = table_cells_number_of(table, row, "machine_ram_bytes");
    size->n_runs++;
    return lacks_memory ? error_memory(error) : GPUT_OK;
}

int gput_size_add(
    struct gput_size *size, const struct gput_table *sessions, struct gput_error *error)
{
    for (size_t row = 0; row < gput_table_row_count(sessions); row++) {
        const char *name = table_cells_text_of(sessions, row, "name");
        enum run_end end = end_of(sessions, row);
        /* Ranks of a job are left out: the row of the whole job has what a machine needs for all
         * its ranks. */
        if (table_cells_number_of(sessions, row, "world_size") > 1 &&
            isnan(table_cells_number_of(sessions, row, "ranks"))) {
            size->n_ranks++;
            continue;
        }
        if (size->n_runs + size->n_failed == 0)
            text_fit(size->name, sizeof size->name, "%s", name);
        else if (strcmp(size->name, name) != 0)
            size->has_several = true;
        if (end == RUN_FAILED)
            size->n_failed++;
        else
            TRY(add_run(size, sessions, row, end, error));
    }
    return GPUT_OK;
}

/* ---- The evidence in words ---- */

/* Appends "3 d": how long ago a moment was. */
static void append_age(struct str *text, const struct gput_size *size, double seconds)
{
    char age[HUMAN_SIZE];
    str_printf(text, "%s ago", human_seconds_of_figure(fmax(size->now_seconds - seconds, 0), age));
}

/* Describes the evidence of a bound. */
static void describe_bound(struct gput_size *size, const char *noun, const struct size_bound *bound,
    const char *(*write)(double, char *))
{
    struct str *text = &size->evidence;
    char value[HUMAN_SIZE], seen[HUMAN_SIZE];
    if (bound->basis == SIZE_BASIS_NONE)
        return;
    if (bound->n_censored == bound->n_values)
        str_printf(text, "%s: %s is asked for; the highest took at least %s", noun,
            write(bound->value, value), write(bound->seen, seen));
    else
        str_printf(text, "%s: %g %% of runs like these take at most %s; the highest took %s%s",
            noun, size->share * 100, write(bound->value, value),
            bound->is_seen_censored ? "at least " : "", write(bound->seen, seen));
    if (bound->n_censored)
        str_printf(text, ", and %zu %s ended before %s", bound->n_censored,
            bound->n_censored == 1 ? "was" : "were",
            bound->n_censored == 1 ? "it had enough" : "they had enough");
    str_append(text, ".");
    if (bound->n_censored == bound->n_values)
        str_append(text, " That is a guess: what they wanted is not known.");
    else if (bound->basis == SIZE_BASIS_GUESS)
        str_printf(text,
            " That is a guess from %zu %s, with an assumed spread. With %zu runs or more, nothing "
            "is "
            "assumed.",
            bound->n_values, bound->n_values == 1 ? "run" : "runs", bound->n_needed);
    else if (bound->basis == SIZE_BASIS_LOGNORMAL && bound->n_values < bound->n_needed)
        str_printf(text,
            " With %zu runs a log-normal spread is assumed; with %zu or more, nothing is.",
            bound->n_values, bound->n_needed);
    else if (bound->basis == SIZE_BASIS_LOGNORMAL)
        str_append(text, " What the ended runs wanted is not known: a log-normal spread is "
                         "assumed.");
    if (bound->grows && !size->has_inputs)
        str_printf(text, " It grows with the ranks: this is for %.0f%s.", bound->covariate,
            bound->is_beyond     ? ", more than any that were seen"
            : isnan(size->ranks) ? ", the most that were seen (--ranks N for another number)"
                                 : "");
    else if (bound->grows)
        str_printf(text, " It grows with the input: this is for %s%s.",
            human_bytes(bound->covariate, value),
            bound->is_beyond           ? ", larger than any that was seen"
            : isnan(size->input_bytes) ? ", the largest that was seen (--size-of FILE for another)"
                                       : "");
    str_append_char(text, '\n');
}

/* Says what the bounds rest on, a line each. */
static void describe(struct gput_size *size)
{
    char bytes[HUMAN_SIZE];
    const struct size_bound *ram = &size->bounds[SIZE_RAM];
    /* Say which runs the figures rest on. */
    struct str *text = &size->evidence;
    str_printf(text, "%zu %s of %s", size->n_runs, size->n_runs == 1 ? "run" : "runs",
        size->has_several ? "several commands" : size->name);
    if (isfinite(size->last_seconds)) {
        str_append(text, size->n_runs == 1 ? ", " : ", the last one ");
        append_age(text, size, size->last_seconds);
    }
    if (size->n_runs > 1 && isfinite(size->first_seconds)) {
        str_append(text, ", the first one ");
        append_age(text, size, size->first_seconds);
    }
    if (size->n_failed)
        str_printf(text, "; %zu more failed and %s left out", size->n_failed,
            size->n_failed == 1 ? "is" : "are");
    str_append(text, ".\n");
    if (size->n_ranks)
        str_printf(text,
            "%zu %s of jobs and %s left out: gpu-tracker job says what to ask for all of a job.\n",
            size->n_ranks, size->n_ranks == 1 ? "more is a rank" : "more are ranks",
            size->n_ranks == 1 ? "is" : "are");
    describe_bound(size, "RAM", ram, human_bytes);
    if (isfinite(size->loose_bytes) && size->loose_bytes > ram->value)
        str_printf(&size->evidence,
            "RAM: in %zu of the runs a peak between two samples may have been higher, up to %s; "
            "--st 0.1 sees more of it.\n",
            size->n_loose - size->n_unbounded, human_bytes(size->loose_bytes, bytes));
    if (size->n_unbounded)
        str_printf(&size->evidence,
            "RAM: in %zu of the runs nothing says how much higher a peak between two samples may "
            "have been; --st 0.1 misses less of it.\n",
            size->n_unbounded);
    if (ram->value > size->machine_ram_bytes)
        str_printf(&size->evidence, "RAM: the machine of the last run has %s in all.\n",
            human_bytes(size->machine_ram_bytes, bytes));
    describe_bound(size, "Time", &size->bounds[SIZE_WALL], human_seconds_of_figure);
    describe_bound(size, "GPU RAM", &size->bounds[SIZE_GPU_RAM], human_bytes);
}

/* ---- All of it ---- */

/* Maximum number of values; the latest ones are used. */
#define MAX_VALUES 500

int gput_size_compute(struct gput_size *size, struct gput_error *error)
{
    if (size->n_runs == 0 && size->n_failed == 0 && size->n_ranks > 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no run to go by: %zu %s of jobs. gpu-tracker job says what to ask for all of "
            "a job.",
            size->n_ranks, size->n_ranks == 1 ? "session is a rank" : "sessions are ranks");
    if (size->n_runs == 0 && size->n_failed == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "There is no run to go by.");
    if (size->n_runs == 0)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no run to go by: of %zu, none ended well or lacked memory or time.",
            size->n_failed);
    for (int quantity = 0; quantity < SIZE_QUANTITY_COUNT; quantity++) {
        size_t count = size->runs.counts[quantity];
        size_t first = count > MAX_VALUES ? count - MAX_VALUES : 0;
        struct size_value *values = size->runs.values[quantity];
        for (size_t i = 0; i < count && !size->has_inputs; i++)
            values[i].covariate = values[i].ranks;
        TRY(size_bound_compute(values + first, count - first, size->share,
            size->has_inputs ? size->input_bytes : size->ranks, &size->bounds[quantity], error));
    }
    bool is_known = false;
    for (int quantity = SIZE_RAM; quantity <= SIZE_CORES; quantity++)
        is_known |= size->bounds[quantity].basis != SIZE_BASIS_NONE;
    if (!is_known)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no run to go by: none of %zu says how much RAM, time or cores it took.",
            size->n_runs);
    /* Numbers of cores and GPUs hardly vary between runs: the highest one is requested. */
    size->bounds[SIZE_CORES].value = size->bounds[SIZE_CORES].seen;
    size->bounds[SIZE_GPUS].value = size->bounds[SIZE_GPUS].seen;
    str_finish(&size->evidence);
    describe(size);
    return size->evidence.failed ? error_memory(error) : GPUT_OK;
}

int gput_size_create(
    const struct gput_size_options *given, struct gput_size **size, struct gput_error *error)
{
    struct gput_size_options options = gput_size_options_default();
    *size = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    if (!(options.share >= 0.5 && options.share < 1))
        return error_set(error, GPUT_ERROR_INVALID,
            "A share of %g of future runs is not possible: it is 0.5 or more, and less than 1.",
            options.share);
    *size = calloc(1, sizeof **size);
    if (!*size)
        return error_memory(error);
    (*size)->share = options.share;
    (*size)->input_bytes = options.input_bytes;
    (*size)->ranks = options.ranks;
    (*size)->first_seconds = (*size)->last_seconds = NAN;
    (*size)->loose_bytes = (*size)->machine_ram_bytes = NAN;
    (*size)->now_seconds = clock_seconds_of_ns(clock_realtime_ns());
    return GPUT_OK;
}

void gput_size_destroy(struct gput_size *size)
{
    if (!size)
        return;
    for (int quantity = 0; quantity < SIZE_QUANTITY_COUNT; quantity++)
        free(size->runs.values[quantity]);
    str_finish(&size->evidence);
    free(size);
}

const char *gput_size_evidence(const struct gput_size *size)
{
    return str_text(&size->evidence);
}
