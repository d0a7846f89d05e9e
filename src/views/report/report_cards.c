#include "views/report/report_cards.h"

#include "analysis/why/why_shares.h"
#include "views/output/results_advice.h"

#include <stdio.h>
#include <stdlib.h>

/* One figure. NaN: not known, or no such bound. */
struct card {
    const char *id, *label, *unit;
    double value, at_least, at_most, limit;
    const char *source; /* in the results, which says how far it can be trusted; NULL: none does */
    const char *bounded_by; /* of a peak or a lower bound: what says its bounds, "": its source;
                               NULL: it has no bounds */
    bool is_main;           /* one of the few that say most of the session */
};

/* A card without bounds and limit. */
static struct card card_of(const char *id, const char *label, const char *unit, double value)
{
    return (struct card){
        id, label, unit, value, .at_least = NAN, .at_most = NAN, .limit = NAN, .source = NULL};
}

static const char of_samples[] = "the highest of the samples; it may have been higher between them";

/* The figures of its end: its results, or what its tracking file has of these; NULL: there are
 * none. */
static const struct gput_results *figures_of(const struct report_session *session)
{
    const struct gput_results *described = session->described;
    if (session->results)
        return session->results;
    return described && !isnan(described->elapsed_seconds) ? described : NULL;
}

/* Adds a card, with what says how far its figure can be trusted. One without figure and source is
 * left out. */
static void add_card(struct report_session *session, const struct card *card)
{
    const struct gput_source *source = session->results && card->source
                                           ? results_find_source(session->results, card->source)
                                           : NULL;
    if (isnan(card->value) && !source)
        return;
    struct doc *object =
        doc_add_object(report_session_list(session, &session->cards, "cards"), NULL);
    doc_add_string(object, "id", card->id);
    doc_add_string(object, "label", card->label);
    doc_add_double(object, "value", card->value);
    doc_add_string(object, "unit", card->unit);

    bool is_known = !isnan(card->value);
    if (!isnan(card->at_least))
        doc_add_double(object, "at_least", card->at_least);
    if (!isnan(card->at_most) || (card->bounded_by && is_known))
        doc_add_double(object, "at_most", card->at_most);
    if (!isnan(card->limit))
        doc_add_double(object, "limit", card->limit);

    /* A figure whose bounds are equal is exact, whatever its source. Results have no state of one
     * that is of no source, such as the wall time. */
    bool is_exact = is_known && card->at_most <= card->value;
    bool has_state = !is_known || !isnan(card->at_most) || source || !figures_of(session);
    enum gput_source_state state = !is_known                          ? GPUT_SOURCE_UNAVAILABLE
                                   : is_exact                         ? GPUT_SOURCE_EXACT
                                   : !isnan(card->at_most) || !source ? GPUT_SOURCE_SAMPLED
                                                                      : source->state;
    const char *reason = source ? source->reason : NULL;
    if (is_known && card->bounded_by && card->bounded_by[0])
        reason = card->bounded_by;
    if (has_state)
        doc_add_string(object, "state", gput_source_state_name(state));
    if (reason)
        doc_add_string(object, "reason", reason);
    if (card->is_main)
        doc_add_bool(object, "is_main", true);
}

/* Adds a card of a figure without bounds. */
static void add_figure(struct report_session *session, const char *id, const char *label,
    const char *unit, double value, const char *source)
{
    struct card card = card_of(id, label, unit, value);
    card.source = source;
    add_card(session, &card);
}

/* Adds the card of the wall time, which is a main figure of every session. */
static void add_wall(struct report_session *session, double seconds)
{
    struct card card = card_of("wall", "Wall time", "seconds", seconds);
    card.is_main = true;
    add_card(session, &card);
}

/* The same; `is_at_least`: what was not seen may come on top. */
static void add_counted(struct report_session *session, const char *id, const char *label,
    const char *unit, double value, const char *source, bool is_at_least)
{
    struct card card = card_of(id, label, unit, value);
    card.source = source;
    if (is_at_least) {
        card.at_least = value;
        card.bounded_by = "";
    }
    add_card(session, &card);
}

/* ---- Of samples ---- */

static double allowed_or(double allowed, double all)
{
    return isnan(allowed) ? all : allowed;
}

static double limit_of_cores(const struct gput_static_data *data)
{
    return allowed_or(
        data->allowed_cores, data->system_core_count > 0 ? data->system_core_count : NAN);
}

/* Adds a card of the highest of the samples. */
static void add_highest(struct report_session *session, const char *id, const char *label,
    const char *unit, double highest, double limit, bool is_main)
{
    struct card card = card_of(id, label, unit, highest);
    card.is_main = is_main;
    card.at_least = highest;
    card.limit = limit;
    card.bounded_by = of_samples;
    add_card(session, &card);
}

/* Adds a card of the cores that samples saw in use, in the mean. */
static void add_mean_cores(
    struct report_session *session, const struct gput_static_data *data, const double *mean)
{
    struct card card = card_of("cores", "Cores used", "cores", mean[GPUT_CPU_COMBINED_SUM] / 100);
    card.limit = limit_of_cores(data);
    add_card(session, &card);
}

/* Whether a GPU held memory of the session or worked for it: the main figures are of GPUs then. */
static bool has_used_gpu(const double *max)
{
    return max[GPUT_COMBINED_GPU_RAM] > 0;
}

/* Adds cards of all GPUs together. */
static void add_all_gpus(struct report_session *session, const struct gput_static_data *data,
    const double *max, const double *mean)
{
    if (!(data->system_gpu_count > 0))
        return;
    struct card busy =
        card_of("gpu_busy", "Mean GPU utilization", "percent", mean[GPUT_GPU_HARDWARE_UTILIZATION]);
    busy.is_main = has_used_gpu(max);
    add_card(session, &busy);
    add_highest(session, "gpu_ram", "GPU RAM peak", "bytes", max[GPUT_COMBINED_GPU_RAM],
        data->gpu_ram_system_capacity_bytes, has_used_gpu(max));
}

/* ---- From results ---- */

/* The results of a killed session are older than its last samples. */
static void add_peak(struct report_session *session, const char *id, const char *label,
    const struct gput_peak *peak, enum gput_measurement_id measurement, double limit, bool is_main)
{
    double seen = fmax(figures_of(session)->max[measurement], peak->bytes);
    double value = session->has_samples ? fmax(seen, session->max[measurement]) : seen;
    double at_most =
        value > seen || peak->at_most_bytes > value * GPUT_USEFUL_BOUND ? NAN : peak->at_most_bytes;
    const struct card card = {id, label, "bytes", value, value, at_most, limit, "ram",
        value > seen ? of_samples : peak->source, is_main};
    add_card(session, &card);
}

/* Adds cards of CPU time, and of the cores that it makes of the wall time. */
static void add_cpu(struct report_session *session)
{
    const struct gput_results *results = figures_of(session);
    const struct gput_accounting *accounting = &results->accounting;
    bool is_at_least = results->n_sources == 0 && isnan(accounting->captured_percent);
    double seconds = accounting->kernel_cpu_seconds;
    if (results->n_sources == 0 && isnan(seconds) && isnan(accounting->sampled_cpu_seconds)) {
        add_mean_cores(session, &results->static_data, results->mean);
        return;
    }
    bool is_of_samples = isnan(seconds) && !isnan(accounting->sampled_cpu_seconds);
    if (is_of_samples) /* it was killed, or is of another user's process: the summary has it, too */
        seconds = accounting->sampled_cpu_seconds;
    struct card time =
        card_of("cpu", is_of_samples ? "CPU time, at least" : "CPU time", "seconds", seconds);
    struct card cores = card_of("cores", is_of_samples ? "Cores used, at least" : "Cores used",
        "cores", results->elapsed_seconds > 0 ? seconds / results->elapsed_seconds : NAN);
    time.is_main = !has_used_gpu(results->max);
    cores.limit = limit_of_cores(&results->static_data);
    cores.source = time.source = is_of_samples ? "cpu_time" : "kernel_cpu_time";
    is_at_least |= results_source_is(results, "kernel_cpu_time", GPUT_SOURCE_SAMPLED);
    if (is_of_samples || is_at_least) {
        time.at_least = seconds;
        cores.at_least = cores.value;
    }
    if (!is_of_samples && is_at_least)
        time.bounded_by = cores.bounded_by = "";
    add_card(session, &time);
    add_card(session, &cores);
    if (!isnan(accounting->captured_percent)) /* else there is nothing that it is a share of */
        add_figure(session, "cpu_captured", "CPU time seen in samples", "percent",
            accounting->captured_percent, "cpu_time");
}

/* Adds cards of one GPU; `is_main`: it is the only one. */
static void add_gpu(
    struct report_session *session, uint32_t index, const struct gput_gpu *gpu, bool is_main)
{
    char id[32], label[160];
    snprintf(id, sizeof id, "gpu%u_busy", index);
    snprintf(label, sizeof label, "GPU %u mean utilization", index);
    struct card busy = card_of(id, label, "percent", gpu->mean_utilization_percent);
    busy.source = "gpu";
    busy.is_main = is_main;
    add_card(session, &busy);
    snprintf(id, sizeof id, "gpu%u_ram", index);
    snprintf(label, sizeof label, "GPU %u RAM, %s", index, gpu->name);
    const struct card ram = {id, label, "bytes", gpu->max_combined_ram_bytes,
        gpu->max_combined_ram_bytes, gpu->max_combined_ram_at_most_bytes, gpu->ram_capacity_bytes,
        "process_gpu_ram",
        "what the driver reported for processes when it was read, up to what was in use in total",
        is_main};
    add_card(session, &ram);
    snprintf(id, sizeof id, "gpu%u_power", index);
    snprintf(label, sizeof label, "GPU %u mean power", index);
    add_figure(session, id, label, "watts", gpu->mean_power_watts, "gpu");
}

/* Adds cards of what was counted: bytes, faults, switches, processes. */
static void add_counts(struct report_session *session)
{
    const struct gput_results *results = figures_of(session);
    const struct gput_accounting *accounting = &results->accounting;
    const struct {
        const char *id, *label, *source;
        double bytes;
    } counts[] = {
        {"read", "Read", "bytes", accounting->read_bytes},
        {"written", "Written", "bytes", accounting->write_bytes},
        {"storage_read", "Read from storage", "counts", accounting->storage_read_bytes},
        {"storage_written", "Written to storage", "counts", accounting->storage_write_bytes},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        add_counted(session, counts[i].id, counts[i].label, "bytes", counts[i].bytes,
            counts[i].source, results_source_is(results, counts[i].source, GPUT_SOURCE_SAMPLED));
    if (accounting->processes_seen > 0)
        add_counted(session, "processes", "Processes", "count", (double)accounting->processes_seen,
            "processes", accounting->processes_missed > 0);
    else
        add_figure(session, "threads", "Threads seen at once", "count",
            results->max[GPUT_COMBINED_THREADS], NULL);
}

/* What RAM is compared with; NaN: with nothing, for its limit counts something else. */
static double limit_of_ram(const struct gput_results *results, double ram_bytes)
{
    const struct gput_static_data *data = &results->static_data;
    if (results_ram_is_not_of_limit(results, ram_bytes))
        return NAN;
    return allowed_or(data->allowed_ram_bytes, data->ram_system_capacity_bytes);
}

/* Adds cards of the results of a session. */
static void add_from_results(struct report_session *session)
{
    const struct gput_results *results = figures_of(session);
    uint32_t n_selected = 0;
    for (uint32_t i = 0; i < results->n_gpus; i++)
        n_selected += results->gpus[i].selected;
    add_wall(session, results->elapsed_seconds);
    if (results->n_gpus == 0 || n_selected > 1)
        add_all_gpus(session, &results->static_data, results->max, results->mean);
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        if (results->gpus[i].selected)
            add_gpu(session, i, &results->gpus[i], n_selected == 1 && has_used_gpu(results->max));
    }
    add_cpu(session);
    add_peak(session, "ram", "RAM peak", &results->peaks.combined, GPUT_COMBINED_RAM,
        limit_of_ram(results, results->max[GPUT_COMBINED_RAM]), !has_used_gpu(results->max));
    if (results->accounting.processes_seen != 1) /* that of one process is the same */
        add_peak(session, "ram_main", "RAM peak of main", &results->peaks.main, GPUT_MAIN_RAM, NAN,
            false);

    const struct gput_energy *energy = &figures_of(session)->energy;
    double machine = energy->machine.total;
    char parts[ENERGY_PARTS_SIZE], label[ENERGY_PARTS_SIZE + 16];
    energy_total_words(energy, parts);
    snprintf(label, sizeof label, "Energy of %s", parts);
    /* Where there is none, the processors' counters say why; there may be GPUs' alone. */
    add_figure(session, "energy", "Energy of the session", "joules", energy->combined,
        isnan(energy->combined) ? "cpu_energy" : "energy_shares");
    add_figure(session, "energy_machine", label, "joules", machine, NULL);
    add_figure(session, "energy_platform", "Energy of the whole platform", "joules",
        energy->machine.psys, NULL);
    add_figure(session, "co2e", "CO2 equivalents", "grams", energy->co2e_grams, NULL);

    add_counts(session);
}

/* Adds where figures come from, or why they are missing. */
static void add_sources(struct report_session *session)
{
    const struct gput_results *results = session->results;
    struct doc *list = doc_add_array(session->doc, "sources");
    for (uint32_t i = 0; i < results->n_sources && i < GPUT_MAX_SOURCES; i++) {
        struct doc *object = doc_add_object(list, NULL);
        doc_add_string(object, "name", results->sources[i].name);
        doc_add_string(object, "state", gput_source_state_name(results->sources[i].state));
        doc_add_string(object, "reason", results->sources[i].reason);
    }
}

/* ---- From samples ---- */

/* Adds cards of what samples alone say of a session without results. */
static void add_from_samples(struct report_session *session)
{
    const struct gput_static_data *data = &session->static_data;
    struct card cpu = card_of("cpu", "CPU time, at least", "seconds",
        session->mean[GPUT_CPU_COMBINED_SUM] / 100 * report_session_seconds(session));
    add_wall(session, report_session_seconds(session));
    add_all_gpus(session, data, session->max, session->mean);
    cpu.at_least = cpu.value;
    cpu.bounded_by = "";
    cpu.is_main = !has_used_gpu(session->max);
    add_card(session, &cpu);
    add_highest(session, "ram", "RAM peak", "bytes", session->max[GPUT_COMBINED_RAM],
        session->described ? limit_of_ram(session->described, session->max[GPUT_COMBINED_RAM])
                           : allowed_or(data->allowed_ram_bytes, data->ram_system_capacity_bytes),
        !has_used_gpu(session->max));
    add_highest(
        session, "ram_main", "RAM peak of main", "bytes", session->max[GPUT_MAIN_RAM], NAN, false);
    add_mean_cores(session, data, session->mean);
}

/* Adds where the time of some threads went, the largest share first. */
static void add_account(
    struct doc *list, const char *id, const char *title, const struct gput_wall *wall)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    size_t count = why_shares(wall, shares);
    if (count == 0)
        return;
    struct doc *account = doc_add_object(list, NULL);
    doc_add_string(account, "id", id);
    doc_add_string(account, "title", title);
    doc_add_double(account, "seconds", wall->seconds);
    struct doc *items = doc_add_array(account, "shares");
    for (size_t i = 0; i < count; i++) {
        static const char *const ids[] = {
#define CAUSE_ID(ID, name, word, meaning) #name,
            WALL_CAUSES(CAUSE_ID)
#undef CAUSE_ID
        };
        struct doc *share = doc_add_object(items, NULL);
        doc_add_string(share, "cause", ids[shares[i].cause]);
        doc_add_string(share, "label", why_word(shares[i].cause));
        doc_add_double(share, "percent", shares[i].percent);
        doc_add_double(share, "seconds", wall->seconds_of[shares[i].cause]);
        if (shares[i].half_width > 0)
            doc_add_double(share, "half_width", shares[i].half_width);
    }
}

/* What the samples of a tracking file say of where the time went; no seconds: nothing. */
static struct gput_wall wall_of_samples(const struct report_session *session)
{
    struct gput_wall wall = {.seconds = 0};
    double seconds = report_session_seconds(session);
    if (!session->has_samples || isnan(session->mean[GPUT_TIME_COMPUTING]))
        return wall;
    wall.seconds = seconds;
    wall.samples = seconds / session->sample_seconds;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        wall.seconds_of[i] = session->mean[GPUT_TIME_COMPUTING + i] * seconds / 100; /* or NaN */
    return wall;
}

/* Adds where the wall time went, unless too little is known of it: a short command's is not. NULL
 * of results: samples say it. */
static void add_time_went(struct report_session *session, const struct gput_results *results)
{
    struct gput_wall sampled = wall_of_samples(session);
    if (!results || !(results->time_went.seconds > 0)) {
        if (why_is_telling(&sampled))
            add_account(
                doc_add_array(session->doc, "time_went"), "time_went", "the command", &sampled);
        return;
    }
    if (!why_is_telling(&results->time_went))
        return;
    struct doc *list = doc_add_array(session->doc, "time_went");
    add_account(list, "time_went", "the command", &results->time_went);
    add_account(list, "main_thread", "main thread alone", &results->main_thread);
    add_account(list, "other_threads", "all other threads", &results->other_threads);
    add_account(list, "gpu_idle", "main thread while no GPU was busy", &results->gpu_idle);
    add_account(list, "gpu_idle_others", "all other threads while no GPU was busy",
        &results->gpu_idle_others);
}

int report_cards_add(struct report_session *session, struct gput_error *error)
{
    if (figures_of(session)) {
        add_from_results(session);
    } else if (session->has_samples) {
        add_from_samples(session);
    }
    add_time_went(session, figures_of(session));
    if (!session->results)
        return GPUT_OK;
    add_sources(session);

    char advice[MAX_ADVICE][ADVICE_SIZE], *text;
    struct gput_results_render_options options = session->known;
    options.processes = NULL; /* their tree is drawn */
    TRY(gput_results_render(session->results, &options, GPUT_FORMAT_SUMMARY, &text, NULL, error));
    doc_add_string(session->doc, "summary", text);
    free(text);
    struct doc *list = doc_add_array(session->doc, "advice");
    size_t count = results_advice(session->results, advice);
    for (size_t i = 0; i < count; i++)
        doc_add_string(list, NULL, advice[i]);
    return GPUT_OK;
}
