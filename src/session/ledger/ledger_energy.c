/*
 * Energy of a session in the results, and its sources.
 */
#include "session/ledger/ledger.h"

#include "base/clock.h"
#include "base/text.h"
#include "machine/energy/energy_meter.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOULES_PER_KILOWATT_HOUR 3.6e6
#define MAX_UNKNOWN 0.02  /* fraction of a session for which joules may be unknown */
#define LATE_NS 200000000 /* a first reading of counters is reported as late from here on */

/* The user's value has priority over a country's mean. */
static void fill_carbon(const struct gput_session_options *options, struct gput_energy *energy)
{
    const struct gput_carbon_intensity *country = NULL;
    double grams = options->carbon_intensity;
    char *source = energy->co2e_source;
    if (!isnan(grams))
        text_fit(source, sizeof energy->co2e_source, "%.10g g/kWh, as given", grams);
    else if (options->carbon_country)
        gput_carbon_intensity_find(options->carbon_country, &country, NULL);
    if (country) {
        grams = country->grams;
        text_fit(source, sizeof energy->co2e_source, "%.10g g/kWh: %s, %d (%s)", grams,
            country->country, country->year, gput_carbon_intensity_source());
    }
    energy->co2e_grams = energy->combined / JOULES_PER_KILOWATT_HOUR * grams;
}

static bool knows_cpu(const struct gput_energy *energy)
{
    return !isnan(energy->machine.package) || !isnan(energy->machine.core) ||
           !isnan(energy->machine.uncore) || !isnan(energy->machine.dram) ||
           !isnan(energy->machine.psys);
}

/* The ranks on a machine take turns in reading its counters. */
static bool has_read_all(const struct ledger *ledger, double seconds)
{
    double read =
        node_reader_seconds(ledger->node, ledger->settings->start_ns, ledger->snapshot->taken_ns);
    return isnan(read) || read >= (1 - MAX_UNKNOWN) * seconds;
}

/* How long after the start the CPU's counters were first read; 0 where it is too short to matter. A
 * command begins before that by a millisecond, or longer on a busy machine. */
static int64_t late_start_ns(const struct ledger *ledger)
{
    int64_t late_ns = ledger->snapshot->energy->cpu.first_read_ns - ledger->settings->start_ns;
    return late_ns > LATE_NS ? late_ns : 0;
}

void ledger_fill_energy(const struct ledger *ledger, struct gput_energy *energy)
{
    *energy = ledger->snapshot->energy->energy;
    energy->unit = ledger->settings->options.energy_unit;
    double seconds = clock_seconds_of_ns(ledger->snapshot->taken_ns - ledger->settings->start_ns);
    const struct energy_meter *meter = ledger->snapshot->energy;
    /* Joules of a part of the time give no mean power of all of it. */
    bool has_lost_events = energy_meter_unknown_seconds(meter) > MAX_UNKNOWN * seconds;
    bool is_late = clock_seconds_of_ns(late_start_ns(ledger)) > MAX_UNKNOWN * seconds;
    bool is_known = seconds > 0 && !has_lost_events && !energy_meter_is_partial(meter) &&
                    (!knows_cpu(energy) || (!is_late && has_read_all(ledger, seconds)));
    energy->mean_watts = is_known ? energy->machine.total / seconds : NAN;
    if (has_lost_events)
        energy->max_watts = NAN;
    /* The rest at the end is too short an interval for the maximum power. */
    if (energy->mean_watts > energy->max_watts)
        energy->max_watts = energy->mean_watts;
    fill_carbon(&ledger->settings->options, energy);
}

/* ---- sources ---- */

/* The CPU time of auto-reaped processes is not known, and that there are none is not proven. */
static bool lacks_cpu_time(const struct ledger *ledger)
{
    return ledger->settings->mode != SESSION_MACHINE && !ledger->has_kernel_cpu &&
           !ledger_is_alone(ledger);
}

/* Shares that rest on few ticks can be far off, even of exact joules. "" where they do not, or
 * nothing is shared out by CPU time. */
static void explain_shares(const struct ledger *ledger, char *text, size_t size)
{
    const struct energy_meter *meter = ledger->snapshot->energy;
    double busy_seconds = meter->since.machine_busy_seconds;
    long ticks = lround(busy_seconds / ledger->snapshot->system->seconds_per_tick);
    bool has_shares = meter->shares_out && !isnan(meter->energy.machine.package);
    text[0] = '\0';
    if (has_shares && busy_seconds < OTHER_CPU_ENOUGH_SECONDS)
        snprintf(text, size,
            "; shares are rough: based on %ld clock tick%s of CPU time of all processes", ticks,
            ticks == 1 ? "" : "s");
}

/* How the domains in the total are shared out; "" where nothing is. */
static const char *how_cpu_is_shared_out(const struct energy_meter *meter)
{
    bool is_in_total = !isnan(meter->energy.machine.package) || !isnan(meter->energy.machine.dram);
    return meter->shares_out && is_in_total ? "; shared out by CPU time and RAM" : "";
}

/* Why joules do not count from the start: another tracker read them, or they were first read later.
 * True: by more than a hundredth of the time. */
static bool explain_start(const struct ledger *ledger, char *text, size_t size)
{
    int64_t start_ns = ledger->settings->start_ns, missing_ns = late_start_ns(ledger);
    node_reader_explain(ledger->node, start_ns, text, size);
    bool is_late =
        !text[0] && missing_ns > (ledger->snapshot->energy->cpu.read_ns - start_ns) / 100;
    if (is_late)
        text_fit(text, size, "without the first %.2f s, before they were first read",
            clock_seconds_of_ns(missing_ns));
    return is_late;
}

/* Adds the source of the CPU's joules, or why they are missing. */
static void add_cpu_energy(const struct ledger *ledger, struct gput_results *results)
{
    const struct energy_meter *meter = ledger->snapshot->energy;
    char faults[GPUT_REASON_SIZE], shares[192], node[160];
    bool is_known = knows_cpu(&meter->energy);
    bool is_late = explain_start(ledger, node, sizeof node);
    const char *remedy = meter->cpu.remedy[0] && !meter->cpu.uses_perf ? meter->cpu.remedy : "";
    const char *hint = remedy[0] ? "; an administrator can run: " : "";
    explain_shares(ledger, shares, sizeof shares);
    energy_counters_explain(&meter->cpu, faults,
        sizeof faults - sizeof meter->cpu.remedy - strlen(shares) - strlen(node));
    if (meter->skips_cpu && !energy_counters_are_missing(&meter->cpu))
        results_add_source(results, "cpu_energy", GPUT_SOURCE_UNAVAILABLE, "%s", node);
    else if (energy_counters_are_missing(&meter->cpu))
        results_add_source(results, "cpu_energy", GPUT_SOURCE_UNAVAILABLE, "%s%s%s",
            meter->cpu.why_not, hint, remedy);
    else if (faults[0])
        results_add_source(results, "cpu_energy",
            is_known ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_UNAVAILABLE, "RAPL, but %s%s%s%s%s%s",
            faults, shares, node[0] ? "; " : "", node, hint, remedy);
    else if (is_known)
        results_add_source(results, "cpu_energy", is_late ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_EXACT,
            "RAPL counters %s%s%s%s%s", meter->cpu.uses_perf ? "by perf events" : "by powercap",
            how_cpu_is_shared_out(meter), shares, node[0] ? "; " : "", node);
    else
        results_add_source(results, "cpu_energy", GPUT_SOURCE_UNAVAILABLE,
            "the session was too short for its counters");
    if (!isnan(meter->energy.machine.battery))
        results_add_source(results, "battery", GPUT_SOURCE_SAMPLED,
            "power drawn from batteries: the whole machine, integrated");
    else if (meter->why_no_battery[0])
        results_add_source(
            results, "battery", GPUT_SOURCE_UNAVAILABLE, "%s", meter->why_no_battery);
}

/* Why there are no joules of any GPU, although there are GPUs; false where there are none. */
static bool explain_no_gpu_energy(const struct ledger *ledger, char *text, size_t size)
{
    size_t count, own = 0;
    const struct gpu_device *devices = gpu_set_devices(ledger->settings->gpus, &count);
    for (size_t i = 0; i < count; i++) {
        if (devices[i].in_package)
            continue; /* in the joules of the CPU */
        const char *power = devices[i].missing[GPU_POWER];
        if (own++ == 0 || power[0])
            snprintf(text, size, "GPU %zu reported neither energy nor power%s%s", i,
                power[0] ? ": " : " twice", power);
        if (power[0])
            break;
    }
    return own > 0;
}

/* Why the use of some GPU by what is tracked is not known: of the first one that says. */
static void explain_unknown_users(const struct ledger *ledger, char *text, size_t size)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(ledger->settings->gpus, &count);
    snprintf(text, size, "no driver reported which processes used the GPUs");
    for (size_t i = 0; i < count; i++) {
        const char *use = devices[i].missing[GPU_PROCESS_UTILIZATION];
        const char *why = use[0] ? use : devices[i].missing[GPU_PROCESS_RAM];
        if (devices[i].in_package || !why[0])
            continue;
        snprintf(text, size, "of GPU %zu, %s", i, why);
        return;
    }
}

void ledger_add_energy_sources(const struct ledger *ledger, struct gput_results *results)
{
    const struct energy_meter *meter = ledger->snapshot->energy;
    char faults[GPUT_REASON_SIZE / 2], shares[GPUT_REASON_SIZE / 2];
    bool is_integrated = energy_meter_integrates_power(meter);
    add_cpu_energy(ledger, results);
    /* A requested figure that is missing gets a reason. */
    const struct gput_session_options *options = &ledger->settings->options;
    bool is_asked_for = !isnan(options->carbon_intensity) || options->carbon_country;
    if (is_asked_for && isnan(ledger->snapshot->energy->energy.combined))
        results_add_source(results, "co2e", GPUT_SOURCE_UNAVAILABLE,
            "the energy of the tracked processes is not known");
    /* Power and use are only known as means over the intervals between samples. */
    if (!isnan(results->energy.combined))
        results_add_source(results, "energy_shares", GPUT_SOURCE_SAMPLED,
            "estimate: the joules of each interval between two samples, shared out by CPU time, "
            "RAM and use of GPUs in it; where power and use change together within an interval, "
            "the share is too low: less so with shorter intervals%s",
            lacks_cpu_time(ledger) ? "; at least: some processes may not have been waited for"
                                   : "");
    energy_meter_explain_gpus(meter, faults, sizeof faults);
    bool is_shared = meter->gpu_by_use || meter->gpu_by_memory;
    bool is_partly = meter->unshared_joules > 0;
    char why[192] = "";
    if (!is_shared || is_partly)
        explain_unknown_users(ledger, why, sizeof why);
    snprintf(shares, sizeof shares, "%s%s%s",
        meter->gpu_by_memory ? "shared out by GPU memory in use"
        : is_shared          ? "shared out by use of their processors"
                             : "not shared out: ",
        is_shared && is_partly ? ", but not all: " : "", why);
    if (!isnan(meter->energy.machine.gpu))
        results_add_source(results, "gpu_energy",
            is_integrated || faults[0] ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_EXACT, "%s%s%s; %s",
            is_integrated ? "power, integrated over time" : "energy counters of the GPUs",
            faults[0] ? ", but " : "", faults, shares);
    else if (faults[0])
        results_add_source(results, "gpu_energy", GPUT_SOURCE_UNAVAILABLE,
            "energy counters of the GPUs, but %s", faults);
    else if (explain_no_gpu_energy(ledger, faults, sizeof faults))
        results_add_source(results, "gpu_energy", GPUT_SOURCE_UNAVAILABLE, "%s", faults);
}
