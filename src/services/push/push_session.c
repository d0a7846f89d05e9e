/*
 * Sends a session that has ended, with its original times: its samples, streamed from the tracking
 * file, and its final figures, from its results.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "base/sized.h"
#include "base/table.h"
#include "base/text.h"
#include "files/results/results_read.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_reader.h"
#include "model/card.h"
#include "model/measurement_list.h"
#include "model/results_columns.h"
#include "model/results_identity.h"
#include "services/push/push.h"

#include <gputracker/push.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE 512
#define MAX_RECEIVERS 2
/* If two samples are farther apart than this, the process was not observed in between; it may have
 * been stopped. */
#define MAX_GAP_SECONDS 3600.0
/* Receivers distinguish milliseconds. */
#define MIN_INTERVAL 1e-3

static const struct gput_push_options usual_options = {.size = sizeof usual_options};
static const struct gput_push_counts usual_counts = {.size = sizeof usual_counts};

void gput_push_options_init(struct gput_push_options *options, size_t size)
{
    sized_init(options, size, &usual_options, sizeof usual_options);
}

void gput_push_counts_init(struct gput_push_counts *counts, size_t size)
{
    sized_init(counts, size, &usual_counts, sizeof usual_counts);
}

/* The state of sending a session. */
struct replay {
    const struct gput_push_options *options;
    struct push *receivers[MAX_RECEIVERS];
    size_t n_receivers;
    struct gput_results end;     /* final figures of the session */
    bool end_is_of_samples;      /* `end` is made from the tracking file, which lacks the last
                                    values */
    struct gput_results results; /* the figures to send next */
    struct gput_identity known;  /* identity of the session, including how it ended */
    double start;                /* seconds since the epoch; NaN: not known */
    double last_sent, last_read; /* timestamps; -INFINITY and NaN: none yet */
    struct gput_error *error;
};

/* ---- receivers ---- */

static const char *variable(const char *name)
{
    return getenv(name);
}

static void warn(const struct replay *replay, const char *text)
{
    if (text && replay->options->warn)
        replay->options->warn(replay->options->user, text);
}

/* Labels a session without an identity by the name of its file. */
static int name_instance(const struct replay *replay, struct push_settings *settings,
    const char *label, const char *path)
{
    if (replay->results.identity.host[0] || labels_get(&settings->labels, label))
        return GPUT_OK;
    return labels_set(&settings->labels, label, file_base_name(path));
}

/* Adds a receiver, and warns of settings that are ignored. */
static int add_receiver(struct replay *replay, const struct push_protocol *protocol,
    struct push_settings *settings, const char *label, const char *path)
{
    if (settings->is_off) {
        warn(replay, "OTEL_SDK_DISABLED is set: no metrics are sent.");
        return GPUT_OK;
    }
    for (size_t i = 0; i < settings->n_remarks; i++)
        warn(replay, settings->remarks[i]);
    if (name_instance(replay, settings, label, path) != GPUT_OK)
        return error_memory(replay->error);
    struct push *push = push_create(protocol, settings);
    if (!push)
        return error_memory(replay->error);
    replay->receivers[replay->n_receivers++] = push;
    return GPUT_OK;
}

/* Opens the receivers that the options name. */
static int open_receivers(struct replay *replay, const char *path)
{
    const struct gput_push_options *options = replay->options;
    if (options->otlp) {
        CLEANUP(push_settings_finish) struct push_settings settings = {0};
        TRY(push_settings_of_otlp(&settings, options->otlp, options->labels,
            options->interval_seconds, variable, replay->error));
        push_settings_set_timeout(&settings, options->timeout_seconds);
        TRY(add_receiver(replay, &push_otlp, &settings, "service.instance.id", path));
    }
    if (options->remote_write) {
        CLEANUP(push_settings_finish) struct push_settings settings = {0};
        TRY(push_settings_of_remote_write(&settings, options->remote_write, options->labels,
            options->interval_seconds, variable, replay->error));
        push_settings_set_timeout(&settings, options->timeout_seconds);
        TRY(add_receiver(replay, &push_remote_write, &settings, "instance", path));
    }
    return GPUT_OK;
}

/* Whether Prometheus refused samples because they are older than those it has. */
static bool is_too_old(const char *answer)
{
    return strstr(answer, "out of bounds") || strstr(answer, "out of order") ||
           strstr(answer, "too old");
}

/* Delivers the waiting samples to all receivers, and explains Prometheus' refusal of old
 * samples. */
static int deliver(struct replay *replay)
{
    struct gput_error reason;
    for (size_t i = 0; i < replay->n_receivers; i++) {
        int code = push_deliver(replay->receivers[i], &reason);
        if (code == GPUT_OK)
            continue;
        error_set(replay->error, code, "%s%s", reason.message,
            is_too_old(reason.message)
                ? ". Prometheus takes samples of the past within the "
                  "storage.tsdb.out_of_order_time_window of its configuration"
                : "");
        if (replay->error)
            replay->error->errno_value = reason.errno_value;
        return code;
    }
    return GPUT_OK;
}

/* Adds a sample of the current figures, and delivers when a batch is full. */
static int put(struct replay *replay, double timestamp)
{
    bool is_full = false;
    for (size_t i = 0; i < replay->n_receivers; i++) {
        push_add(replay->receivers[i], (int64_t)llround(timestamp * 1e6) * 1000, &replay->results);
        is_full |= replay->receivers[i]->n_waiting >= PUSH_MAX_BATCH;
    }
    return is_full ? deliver(replay) : GPUT_OK;
}

/* Whether the interval since the last sample sent has passed. */
static bool is_due(struct replay *replay, double timestamp)
{
    double interval = fmax(replay->options->interval_seconds, MIN_INTERVAL);
    if (isnan(timestamp) || timestamp < replay->last_sent + interval)
        return false;
    replay->last_sent = timestamp;
    return true;
}

/* ---- samples ---- */

/* Returns the number of rows that could not be written; CPU time cannot be computed across them. */
static uint64_t rows_lost_of(const struct replay *replay)
{
    uint64_t lost = replay->results.tracker.rows_lost, of_report = replay->end.tracker.rows_lost;
    return lost > of_report ? lost : of_report;
}

/* Adds to a counter, up to its value at the end, as the times of rows are not exact. */
static void add_up_to(double *counter, double seconds, double end)
{
    number_add_known(counter, seconds);
    *counter = isnan(*counter) ? NAN : fmin(*counter, end);
}

/* Clears the end of the session, which was not known while it ran. */
static void hide_end(struct replay *replay)
{
    struct gput_identity *identity = &replay->results.identity;
    identity->end[0] = '\0';
    identity->exit_status = identity->signal = NAN;
}

/* Sends one row of a tracking file, if its sample is due. */
static int send_row(struct replay *replay, const struct tracking_row *row)
{
    if (isnan(replay->start))
        replay->start = row->timestamp;
    struct gput_results *results = &replay->results;
    const double *values = row->values;
    double gap = row->timestamp - replay->last_read;
    for (size_t i = 0; i < TRACKED_MEASUREMENTS; i++) {
        enum gput_measurement_id id = tracked_measurements[i];
        double *now = &results->now.values[id];
        *now = static_data_base_value(
            &results->static_data, gput_measurement(id)->quantity, values[id]);
        results->max[id] = fmax(results->max[id], *now);
    }
    if (gap > 0 && gap < MAX_GAP_SECONDS && rows_lost_of(replay) == 0) {
        const struct gput_results *end = &replay->end;
        add_up_to(&results->now.main_cpu_seconds, gap * values[GPUT_CPU_MAIN_SUM] / 100,
            end->now.main_cpu_seconds);
        add_up_to(&results->now.descendants_cpu_seconds,
            gap * values[GPUT_CPU_DESCENDANTS_SUM] / 100, end->now.descendants_cpu_seconds);
        add_up_to(&results->accounting.sampled_cpu_seconds,
            gap * values[GPUT_CPU_COMBINED_SUM] / 100, end->accounting.sampled_cpu_seconds);
        number_add_known(&results->now.system_cpu_seconds, gap * values[GPUT_CPU_SYSTEM_SUM] / 100);
    }
    replay->last_read = row->timestamp;

    replay->results.elapsed_seconds = row->timestamp - replay->start;
    return is_due(replay, row->timestamp) ? put(replay, row->timestamp) : GPUT_OK;
}

/* Sends the last row, whatever the interval. If no results follow, also sends how the session
 * ended. */
static int send_last(struct replay *replay, bool results_follow)
{
    double end = results_identity_seconds(replay->known.end);
    if (replay->last_read >= replay->last_sent + MIN_INTERVAL)
        TRY(put(replay, replay->last_read));
    if (replay->end_is_of_samples)
        memcpy(replay->end.now.values, replay->results.now.values, sizeof replay->end.now.values);
    if (results_follow || isnan(end))
        return GPUT_OK;
    end = fmax(end, replay->last_read + MIN_INTERVAL);
    replay->results.identity = replay->known;
    replay->results.elapsed_seconds = end - replay->start;
    int code = put(replay, end);
    hide_end(replay);
    return code;
}

/* ---- the further tables of databases: GPUs, energy, bytes ---- */

static double cell(const struct gput_table *table, size_t row, const char *name)
{
    return table_cells_number(table, row, table_cells_find(table, name));
}

/* Returns the larger value, as a counter that decreases looks like a restart; NaN if `now` is
 * unknown. */
static double highest(double before, double now)
{
    return isnan(now) ? NAN : fmax(before, now);
}

/* Finds a GPU of the results by its UUID; NULL: there is none. */
static struct gput_gpu *find_gpu(struct gput_results *results, const char *uuid)
{
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        if (strcmp(results->gpus[i].uuid, uuid) == 0)
            return &results->gpus[i];
    }
    return NULL;
}

/* Copies a row of GPU figures to the results. */
static int add_gpu(struct replay *replay, const struct gput_table *table, size_t row)
{
    const char *uuid = table_cells_text(table, row, table_cells_find(table, "uuid"));
    enum gput_ram_unit unit = replay->results.static_data.gpu_ram_unit;
    struct gput_gpu *gpu = find_gpu(&replay->results, uuid);
    if (!uuid[0])
        return GPUT_OK;
    if (!gpu) {
        struct gput_results *results = &replay->results;
        if (results_reserve_gpus(results, (size_t)results->n_gpus + 1) != GPUT_OK)
            return error_memory(replay->error);
        gpu = &results->gpus[results->n_gpus++];
        memset(gpu, 0, sizeof *gpu);
        results_forget_numbers(results_gpu_list(), gpu);
        text_fit(gpu->uuid, sizeof gpu->uuid, "%s", uuid);
        const struct gput_gpu *known = find_gpu(&replay->end, uuid);
        if (known) {
            memcpy(gpu->name, known->name, sizeof known->name);
            memcpy(gpu->vendor, known->vendor, sizeof known->vendor);
            gpu->ram_capacity_bytes = known->ram_capacity_bytes;
        }
    }

    gpu->now.ram_bytes = ram_in_bytes(cell(table, row, "ram_used"), unit);
    gpu->now.combined_ram_bytes = ram_in_bytes(cell(table, row, "combined_ram"), unit);
    gpu->now.utilization_percent = cell(table, row, "utilization_percent");
    gpu->now.power_watts = cell(table, row, "power_watts");
#define TAKE(member, FIGURE, unit, meaning)                                                        \
    gpu->now.member = cell(table, row, card_figures[CARD_##FIGURE].name);
    CARD_RESULTS_NOW(TAKE)
#undef TAKE
    gpu->now.joules = highest(gpu->now.joules, cell(table, row, "energy_joules"));
    struct gput_gpu *end = find_gpu(&replay->end, uuid);
    if (end)
        end->now.joules = highest(gpu->now.joules, end->now.joules);
    return GPUT_OK;
}

/* Copies a row of energy figures to the results. */
static int add_energy(struct replay *replay, const struct gput_table *table, size_t row)
{
    struct gput_energy *energy = &replay->results.energy;
    double *figures[GPUT_ENERGY_FIGURE_COUNT] = {
        [GPUT_ENERGY_PACKAGE] = &energy->machine.package,
        [GPUT_ENERGY_CORE] = &energy->machine.core,
        [GPUT_ENERGY_UNCORE] = &energy->machine.uncore,
        [GPUT_ENERGY_DRAM] = &energy->machine.dram,
        [GPUT_ENERGY_PSYS] = &energy->machine.psys,
        [GPUT_ENERGY_GPU] = &energy->machine.gpu,
        [GPUT_ENERGY_TOTAL] = &energy->machine.total,
        [GPUT_ENERGY_MAIN] = &energy->main,
        [GPUT_ENERGY_DESCENDANTS] = &energy->descendants,
        [GPUT_ENERGY_COMBINED] = &energy->combined,
    };
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        *figures[i] = cell(table, row, gput_energy_figure_name((enum gput_energy_figure)i));
    return GPUT_OK;
}

/* Copies a row of bytes read and written to the results. */
static int add_bytes(struct replay *replay, const struct gput_table *table, size_t row)
{
    struct gput_accounting *accounting = &replay->results.accounting;
    accounting->read_bytes = cell(table, row, "read_bytes");
    accounting->write_bytes = cell(table, row, "write_bytes");
    accounting->storage_read_bytes = cell(table, row, "storage_read_bytes");
    accounting->storage_dirtied_bytes = cell(table, row, "storage_write_bytes");
    return GPUT_OK;
}

static const struct further_table {
    const char *name;
    int (*take)(struct replay *replay, const struct gput_table *table, size_t row);
} further_tables[] = {{"gpu_data", add_gpu}, {"energy_data", add_energy}, {"io_data", add_bytes}};

/* A further table while it is read. Several rows with one timestamp (one a GPU) form one sample,
 * which is complete when the next timestamp begins. */
struct further {
    struct replay *replay;
    const char *name; /* name of the current table, as in `further_tables` */
    double timestamp; /* time of the sample that is not complete yet; NaN: none */
};

/* Sends a complete sample, if it is due or the last. */
static int complete(struct further *further, bool is_last)
{
    double timestamp = further->timestamp;
    bool is_to_send = is_due(further->replay, timestamp) ||
                      (is_last && timestamp >= further->replay->last_sent + MIN_INTERVAL);
    further->timestamp = NAN;
    return is_to_send ? put(further->replay, timestamp) : GPUT_OK;
}

/* Copies the rows of a part of a further table. A new timestamp completes the sample before. */
static int on_part(void *user, const struct gput_tables *tables, const struct gput_table *part,
    struct gput_error *error)
{
    struct further *further = user;
    const struct further_table *table = NULL;
    (void)tables;
    (void)error; /* `replay->error` is the same */
    for (size_t i = 0; i < sizeof further_tables / sizeof *further_tables; i++) {
        if (strcmp(gput_table_name(part), further_tables[i].name) == 0)
            table = &further_tables[i];
    }
    if (!table)
        return GPUT_OK;
    if (further->name != table->name) {
        TRY(complete(further, true));
        TRY(deliver(further->replay));
        further->name = table->name;
        further->replay->last_sent = -INFINITY;

        /* Reset the figures to those that are known before the first row of a table. */
        struct replay *replay = further->replay;
        struct gput_static_data static_data = replay->results.static_data;
        struct gput_identity identity = replay->results.identity;
        results_forget(&replay->results);
        replay->results.static_data = static_data;
        replay->results.identity = identity;
        for (uint32_t i = 0; i < replay->results.n_gpus; i++)
            replay->results.gpus[i].now.ram_bytes = replay->results.gpus[i].now.combined_ram_bytes =
                replay->results.gpus[i].now.utilization_percent =
                    replay->results.gpus[i].now.power_watts = replay->results.gpus[i].now.joules =
                        NAN;
    }

    for (size_t row = 0; row < gput_table_row_count(part); row++) {
        double timestamp = cell(part, row, "timestamp");
        if (timestamp != further->timestamp)
            TRY(complete(further, false));
        further->timestamp = timestamp;
        TRY(table->take(further->replay, part, row));
    }
    return GPUT_OK;
}

static void set_without_constants(struct replay *replay, bool without)
{
    for (size_t i = 0; i < replay->n_receivers; i++)
        replay->receivers[i]->without_constants = without;
}

/* Sends the further tables of a tracking database. */
static int send_further(struct replay *replay, struct tracking_reader *reader)
{
    struct further further = {replay, NULL, NAN};
    struct gput_tables *building = tables_create(), *tables = NULL;
    if (!building)
        return error_memory(replay->error);
    tables_set_receiver(building, ROWS_AT_ONCE, on_part, &further);
    set_without_constants(replay, true);
    int code = tracking_reader_tables(reader, building, replay->error);
    if (code == GPUT_OK)
        code = complete(&further, true);
    if (code == GPUT_OK)
        code = deliver(replay);
    set_without_constants(replay, false);
    struct gput_error reason;
    int finished = tables_finish_building(building, &tables, &reason);
    gput_tables_destroy(tables);
    return code != GPUT_OK ? code : finished == GPUT_OK ? GPUT_OK : error_memory(replay->error);
}

/* ---- files ---- */

/* Sets the final counters of CPU time as the kernel counted it. Reports lack those of main and
 * descendants, which are computed from the means. */
static void complete_end(struct gput_results *end)
{
    struct gput_accounting *accounting = &end->accounting;
    double seconds = end->elapsed_seconds / 100;
    accounting->sampled_cpu_seconds =
        fmax(accounting->kernel_cpu_seconds, accounting->sampled_cpu_seconds);
    end->now.main_cpu_seconds = end->mean[GPUT_CPU_MAIN_SUM] * seconds;
    end->now.descendants_cpu_seconds =
        fmax(accounting->sampled_cpu_seconds - end->now.main_cpu_seconds,
            end->mean[GPUT_CPU_DESCENDANTS_SUM] * seconds);
    end->now.system_cpu_seconds = NAN;
}

/* Whether the final figures are known, from results or from the tracking file. */
static bool has_end(const struct replay *replay)
{
    return !isnan(replay->end.elapsed_seconds);
}

/* Sends all samples of a tracking file, then its further tables. */
static int send_file(struct replay *replay, struct tracking_reader *reader, const char *path)
{
    /* Read what the file says about its session; its final figures are sent at the end. */
    struct gput_results read = {0}, *results = &replay->results;
    results_forget(&read);
    int code = tracking_identity_of(reader, path, &read, replay->error);
    results->identity = read.identity;
    results->allowed = read.allowed;
    results->static_data = read.static_data;
    results->tracker.rows_lost = read.tracker.rows_lost;
    if (code == GPUT_OK && !has_end(replay) && !isnan(read.elapsed_seconds)) {
        replay->end = read;
        replay->end_is_of_samples = true;
        replay->end.static_data = *tracking_reader_static_data(reader);
        complete_end(&replay->end);
    }
    TRY(code);
    const char *start = replay->results.identity.start;
    replay->results.static_data = *tracking_reader_static_data(reader);
    replay->known = replay->results.identity;
    hide_end(replay);
    replay->start = start[0] ? results_identity_seconds(start) : NAN;
    replay->last_read = NAN;

    TRY(open_receivers(replay, path));
    CLEANUP_FREE struct tracking_row *rows = calloc(ROWS_AT_ONCE, sizeof *rows);
    size_t count = 1;
    if (!rows)
        return error_memory(replay->error);
    replay->last_sent = -INFINITY;
    while (count > 0) {
        TRY(tracking_reader_next(reader, rows, ROWS_AT_ONCE, &count, replay->error));
        for (size_t i = 0; i < count; i++)
            TRY(send_row(replay, &rows[i]));
    }
    if (!isnan(replay->last_read))
        TRY(send_last(replay, has_end(replay)));
    TRY(deliver(replay));

    warn(replay, tracking_reader_warning(reader));
    char text[512];
    uint64_t lost = rows_lost_of(replay);
    text_fit(text, sizeof text,
        "%s lacks %llu row%s, which could not be written: its samples are sent without counters of "
        "CPU time",
        path, (unsigned long long)lost, lost > 1 ? "s" : "");
    warn(replay, lost > 0 ? text : NULL);

    return text_ends_with(path, ".sqlite") ? send_further(replay, reader) : GPUT_OK;
}

/* Sends a session: its samples, its results, or both. */
static int send_session(struct replay *replay, const char *samples, const char *results)
{
    if (!samples && !results)
        return error_set(replay->error, GPUT_ERROR_INVALID,
            "There is nothing to send: name a tracking file or results.");
    if (!replay->options->otlp && !replay->options->remote_write)
        return error_set(replay->error, GPUT_ERROR_INVALID,
            "There is nowhere to send to: give the address of a receiver.");
    if (results)
        TRY(results_read(results, &replay->end, NULL, replay->error));
    complete_end(&replay->end);
    if (samples) {
        struct tracking_reader *reader;
        TRY(tracking_reader_salvage(samples, &reader, replay->error));
        int code = send_file(replay, reader, samples);
        tracking_reader_close(reader);
        TRY(code);
    }

    if (!has_end(replay))
        return GPUT_OK;

    /* Send the figures of the whole session with the time of its end. */
    const char *path = results ? results : samples;
    struct gput_results *end = &replay->end;
    double now = results_identity_seconds(end->identity.end);
    if (isnan(now)) /* the session was killed */
        now = results_identity_seconds(end->identity.start) + end->elapsed_seconds;
    if (isnan(now))
        return error_set(replay->error, GPUT_ERROR_INVALID,
            "%.400s does not say when its session ended: it cannot be sent.", path);
    if (replay->n_receivers == 0) {
        memcpy(&replay->results.identity, &end->identity, sizeof end->identity);
        TRY(open_receivers(replay, path));
    }
    now = fmax(now, replay->last_read + MIN_INTERVAL); /* fmax() ignores NaN */
    for (size_t i = 0; i < replay->n_receivers; i++)
        push_add(replay->receivers[i], (int64_t)llround(now * 1e6) * 1000, end);
    return deliver(replay);
}

int gput_push_session(const char *samples, const char *results,
    const struct gput_push_options *given, struct gput_push_counts *counts,
    struct gput_error *error)
{
    struct gput_push_options options = usual_options;
    struct gput_push_counts made = usual_counts;
    struct gput_error ignored;
    TRY(sized_read(&options, sizeof options, given, error));
    struct replay replay = {.options = &options,
        .last_sent = -INFINITY,
        .last_read = NAN,
        .start = NAN,
        .error = error ? error : &ignored};
    results_forget(&replay.results);
    results_forget(&replay.end);
    int code = send_session(&replay, samples, results);
    char text[512];
    for (size_t i = 0; i < replay.n_receivers; i++) {
        struct push *push = replay.receivers[i];
        made.sent += push->sent;
        made.lost += push->lost + push->n_waiting;
        made.refused += push->refused;
        if (push->refused > 0) {
            push_describe(push, text, sizeof text);
            warn(&replay, text);
        }
        push_destroy(push);
    }
    results_finish(&replay.end);
    results_finish(&replay.results);

    if (counts)
        sized_write(counts, &made, sizeof made);
    return code;
}
