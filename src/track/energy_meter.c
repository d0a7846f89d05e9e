#include "track/energy_meter.h"

#include "base/clock.h"
#include "os/battery.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Counters that can wrap are read at least this often. */
#define KEEP_UP_NS (60 * NS_PER_SECOND)
/* Power is an average over up to a second, so a counter is held to it only after a while. */
#define COMPARED_SECONDS 10
#define MOST_DISAGREEMENT 0.1

/* ---- beginning ---- */

static void suggest_remedy(struct energy_meter *meter)
{
    snprintf(meter->remedy, sizeof meter->remedy,
        "sudo chmod a+r %s/class/powercap/intel-rapl:*/energy_uj", meter->sysfs_root);
}

static void explain_powercap(struct energy_meter *meter)
{
    const struct powercap *powercap = &meter->powercap;
    if (powercap->count == 0) {
        snprintf(meter->why_not, sizeof meter->why_not,
            "this machine shows no RAPL counters (%s/class/powercap); virtual machines rarely do",
            meter->sysfs_root);
        return;
    }
    snprintf(meter->why_not, sizeof meter->why_not, "%s: %s", powercap->zones[0].path,
        strerror(powercap->zones[0].open_errno));
    suggest_remedy(meter);
}

/* Where some counters open and others do not: what is missing from the sums. */
static void flag_refused_zones(struct energy_meter *meter)
{
    for (size_t i = 0; i < meter->powercap.count; i++) {
        const struct powercap_zone *zone = &meter->powercap.zones[i];
        if (zone->fd >= 0)
            continue;
        snprintf(meter->energy.flags, sizeof meter->energy.flags,
            "that of %s %u cannot be read (%s) and is missing", energy_domain_name(zone->domain),
            zone->package, strerror(zone->open_errno));
        suggest_remedy(meter);
        return;
    }
}

static bool any_zone_opened(const struct powercap *powercap)
{
    for (size_t i = 0; i < powercap->count; i++) {
        if (powercap->zones[i].fd >= 0)
            return true;
    }
    return false;
}

void energy_meter_init(struct energy_meter *meter, const char *sysfs_root)
{
    double watts;
    *meter = (struct energy_meter){.sysfs_root = sysfs_root, .shares_out = true};
    powercap_open(sysfs_root, &meter->powercap);
    if (!any_zone_opened(&meter->powercap)) {
        explain_powercap(meter);
        perf_energy_open(sysfs_root, &meter->perf);
        meter->uses_perf = meter->perf.count > 0;
    } else {
        flag_refused_zones(meter);
    }
    for (int i = 0; i < ENERGY_DOMAINS; i++)
        meter->pending[i] = NAN;
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        meter->gpus[i].joules = NAN;
    meter->package_share = meter->dram_share = NAN;
    meter->has_battery = battery_read(sysfs_root, &watts) == GPUT_OK;

    struct gput_energy *energy = &meter->energy;
    energy->machine.package = energy->machine.core = energy->machine.uncore = NAN;
    energy->machine.dram = energy->machine.psys = energy->machine.gpu = NAN;
    energy->machine.battery = energy->machine.total = NAN;
    energy->main = energy->descendants = energy->combined = energy->unattributed = NAN;
    energy->idle_share = energy->mean_watts = energy->max_watts = energy->co2e_grams = NAN;
}

void energy_meter_finish(struct energy_meter *meter)
{
    powercap_close(&meter->powercap);
    perf_energy_close(&meter->perf);
}

bool energy_meter_has_any(const struct energy_meter *meter)
{
    return meter->uses_perf || any_zone_opened(&meter->powercap) || meter->has_battery ||
           !isnan(meter->energy.machine.gpu);
}

/* ---- counters ---- */

/* Adds to a total that may still be unknown. */
static void add(double *total, double joules)
{
    if (!isnan(joules))
        *total = (isnan(*total) ? 0 : *total) + joules;
}

/* Joules of every domain over the interval. */
struct interval {
    double domains[ENERGY_DOMAINS];
    double gpu;
};

static size_t counter_count(const struct energy_meter *meter)
{
    return meter->uses_perf ? meter->perf.count : meter->powercap.count;
}

static enum energy_domain domain_of(const struct energy_meter *meter, size_t i)
{
    return meter->uses_perf ? meter->perf.counters[i].domain : meter->powercap.zones[i].domain;
}

static double read_counter(struct energy_meter *meter, size_t i)
{
    uint64_t energy_uj;
    double joules;
    if (meter->uses_perf)
        return perf_energy_read(&meter->perf.counters[i], &joules) == GPUT_OK ? joules : NAN;
    const struct powercap_zone *zone = &meter->powercap.zones[i];
    meter->counters[i].range_joules = (double)zone->range_uj * 1e-6;
    return powercap_read(zone, &energy_uj) == GPUT_OK ? (double)energy_uj * 1e-6 : NAN;
}

/* An idle graphics unit may really use nothing; everything else always uses something. */
static bool may_stand_still(enum energy_domain domain)
{
    return domain == ENERGY_UNCORE;
}

/* What is wrong with a counter, or NULL. */
static const char *fault_of(const struct energy_counter *counter, enum energy_domain domain)
{
    if (counter->went_back)
        return "went back; those intervals were left out";
    if (!counter->stood_still || may_stand_still(domain))
        return NULL;
    return counter->has_moved ? "stood still; what it missed is not known"
                              : "stands still and is left out";
}

/* Reads all counters; what they have moved by goes to `pending`. */
static void read_counters(struct energy_meter *meter, int64_t now_ns)
{
    for (size_t i = 0; i < counter_count(meter); i++) {
        enum energy_domain domain = domain_of(meter, i);
        struct energy_counter *counter = &meter->counters[i];
        double joules = read_counter(meter, i);
        if (isnan(joules))
            continue;
        const char *known_fault = fault_of(counter, domain);
        /* The first reading starts the counter and gives nothing. */
        double added = energy_counter_advance(counter, joules, now_ns);
        if (counter->has_moved || may_stand_still(domain))
            add(&meter->pending[domain], added);
        const char *fault = fault_of(counter, domain);
        if (fault != known_fault)
            snprintf(meter->energy.flags, sizeof meter->energy.flags, "the %s counter %s",
                energy_domain_name(domain), fault);
    }
    meter->read_ns = now_ns;
}

/* Whether the packages' joules are known, or will be with the next move of a counter. */
static bool has_package(const struct energy_meter *meter)
{
    for (size_t i = 0; i < counter_count(meter); i++) {
        const struct energy_counter *counter = &meter->counters[i];
        if (domain_of(meter, i) == ENERGY_PACKAGE && counter->has_last &&
            (counter->has_moved || !counter->stood_still))
            return true;
    }
    return false;
}

static void take_domains(struct energy_meter *meter, struct interval *interval, int64_t now_ns)
{
    read_counters(meter, now_ns);
    for (int i = 0; i < ENERGY_DOMAINS; i++) {
        interval->domains[i] = meter->pending[i];
        meter->pending[i] = NAN;
    }
}

int64_t energy_meter_due_ns(const struct energy_meter *meter)
{
    bool wraps = !meter->uses_perf && any_zone_opened(&meter->powercap);
    return wraps && meter->since_ns ? meter->read_ns + KEEP_UP_NS : INT64_MAX;
}

void energy_meter_keep_up(struct energy_meter *meter, int64_t now_ns)
{
    read_counters(meter, now_ns);
}

/* ---- shares ---- */

static double share(double part, double whole)
{
    if (!(part > 0) || !(whole > 0))
        return 0;
    return part < whole ? part / whole : 1;
}

/* Gives main and the descendants their shares of some joules; both together never more than all.
 * Returns what they got; NaN: nothing is known. */
static double attribute(struct energy_meter *meter, double joules, double main, double descendants)
{
    if (isnan(joules) || !meter->shares_out)
        return NAN;
    double sum = main + descendants;
    if (sum > 1) {
        main /= sum;
        descendants /= sum;
    }
    add(&meter->energy.main, joules * main);
    add(&meter->energy.descendants, joules * descendants);
    add(&meter->energy.combined, joules * (main + descendants));
    return joules * (main + descendants);
}

static void attribute_cpu(
    struct energy_meter *meter, const struct energy_shares *now, double joules)
{
    const struct energy_shares *since = &meter->since;
    double main = now->main_cpu_seconds - since->main_cpu_seconds;
    double descendants = now->descendants_cpu_seconds - since->descendants_cpu_seconds;
    double busy = now->machine_busy_seconds - since->machine_busy_seconds;
    /* The machine's time comes in ticks: it cannot have been less than what our own clocks saw. */
    if (busy < main + descendants)
        busy = main + descendants;
    add(&meter->package_share,
        attribute(meter, joules, share(main, busy), share(descendants, busy)));
}

static void attribute_dram(
    struct energy_meter *meter, const struct energy_shares *now, double joules)
{
    double combined = share(now->combined_ram_bytes, now->machine_ram_bytes);
    double main = share(now->main_ram_bytes, now->machine_ram_bytes);
    if (main > combined)
        main = combined;
    add(&meter->dram_share, attribute(meter, joules, main, combined - main));
}

/* ---- GPUs ---- */

/* Notes when a counter cannot be right. */
static void check_gpu(struct energy_meter *meter, size_t i)
{
    const struct gpu_energy *gpu = &meter->gpus[i];
    double larger = fmax(gpu->counted_joules, gpu->integrated_joules);
    double difference = fabs(gpu->counted_joules - gpu->integrated_joules);
    char *flags = meter->gpu_flags;
    if (gpu->counter.went_back || gpu->counter.stood_still)
        snprintf(flags, sizeof meter->gpu_flags, "that of GPU %zu %s; %s", i,
            gpu->counter.stood_still ? "stood still" : "went back",
            isnan(gpu->watts) ? "what it missed is not known" : "its power was integrated instead");
    else if (gpu->seconds >= COMPARED_SECONDS && difference > MOST_DISAGREEMENT * larger)
        snprintf(flags, sizeof meter->gpu_flags,
            "GPU %zu counted %.1f J where its power, integrated, gives %.1f J", i,
            gpu->counted_joules, gpu->integrated_joules);
}

/* Joules of an interval: what the counter moved by. While it does not move, or not yet, they are
 * taken from the power (NaN: not known), and from the counter only what is more than that. */
static double settle_gpu(struct gpu_energy *gpu, double counted, double integrated)
{
    if (isnan(counted)) {
        gpu->ahead_joules = 0; /* it began anew, and tells nothing of what was before */
        return integrated;
    }
    if (gpu->counter.stood_still)
        return integrated;
    if (counted == 0 && isnan(integrated))
        return gpu->counter.has_moved ? 0 : NAN;
    if (counted == 0) {
        gpu->ahead_joules += integrated;
        return integrated;
    }
    double joules = fmax(0, counted - gpu->ahead_joules);
    gpu->ahead_joules = fmax(0, gpu->ahead_joules - counted);
    return joules;
}

/* Joules of one GPU since its figures before: by its counter, else its power over the time. */
static double gpu_joules(
    struct energy_meter *meter, size_t i, const struct gpu_device_sample *sample, int64_t now_ns)
{
    struct gpu_energy *gpu = &meter->gpus[i];
    /* The figures are of the moment when the driver gave them. */
    if (sample->age_seconds > 0)
        now_ns -= (int64_t)(sample->age_seconds * (double)NS_PER_SECOND);
    if (now_ns < gpu->since_ns)
        now_ns = gpu->since_ns;
    double seconds = gpu->since_ns ? (double)(now_ns - gpu->since_ns) / (double)NS_PER_SECOND : NAN;
    double watts = isnan(gpu->watts) ? sample->power_watts : (sample->power_watts + gpu->watts) / 2;
    double integrated = watts * seconds, counted = 0;
    gpu->since_ns = now_ns;
    gpu->watts = sample->power_watts;
    if (isnan(sample->energy_joules) && !gpu->counter.has_last) {
        meter->gpu_is_integrated |= !isnan(integrated);
        return integrated;
    }
    if (!isnan(sample->energy_joules))
        counted = energy_counter_advance(&gpu->counter, sample->energy_joules, now_ns);
    if (!isnan(counted) && !isnan(integrated)) {
        gpu->counted_joules += counted;
        gpu->integrated_joules += integrated;
        gpu->seconds += seconds;
    }
    check_gpu(meter, i);
    return settle_gpu(gpu, counted, integrated);
}

static void attribute_gpu(
    struct energy_meter *meter, const struct gpu_device_sample *gpu, double joules)
{
    double main = gpu->main_sm_percent, descendants = gpu->descendants_sm_percent;
    if (!isnan(main) && !isnan(descendants)) {
        /* Use by everybody: at least ours. */
        double all = gpu->utilization_percent;
        if (!(all > main + descendants))
            all = main + descendants;
        attribute(meter, joules, share(main, all), share(descendants, all));
        return;
    }
    meter->gpu_by_memory = true;
    attribute(meter, joules, share(gpu->main_ram_bytes, gpu->ram_used_bytes),
        share(gpu->descendants_ram_bytes, gpu->ram_used_bytes));
}

static void read_gpus(struct energy_meter *meter, const struct energy_shares *now,
    struct interval *interval, int64_t now_ns)
{
    interval->gpu = NAN;
    for (size_t i = 0; now->gpus && i < now->gpus->n_devices; i++) {
        /* A MIG instance's energy is its card's; that of a GPU in the CPU's package, the package's.
         */
        if (now->gpu_devices[i].mig || (now->gpu_devices[i].in_package && has_package(meter)))
            continue;
        double joules = gpu_joules(meter, i, &now->gpus->devices[i], now_ns);
        if (isnan(joules))
            continue;
        add(&meter->gpus[i].joules, joules);
        add(&interval->gpu, joules);
        attribute_gpu(meter, &now->gpus->devices[i], joules);
    }
}

/* ---- an interval ---- */

static double total_of(
    const struct energy_meter *meter, const struct interval *interval, double battery)
{
    double total = NAN;
    if (!has_package(meter) && !isnan(battery))
        return battery;
    add(&total, interval->domains[ENERGY_PACKAGE]);
    add(&total, interval->domains[ENERGY_DRAM]);
    add(&total, interval->gpu);
    return total;
}

static void add_interval(struct energy_meter *meter, const struct interval *interval,
    double battery_joules, double seconds)
{
    struct gput_energy *energy = &meter->energy;
    add(&energy->machine.package, interval->domains[ENERGY_PACKAGE]);
    add(&energy->machine.core, interval->domains[ENERGY_CORE]);
    add(&energy->machine.uncore, interval->domains[ENERGY_UNCORE]);
    add(&energy->machine.dram, interval->domains[ENERGY_DRAM]);
    add(&energy->machine.psys, interval->domains[ENERGY_PSYS]);
    add(&energy->machine.gpu, interval->gpu);
    add(&energy->machine.battery, battery_joules);

    double total = total_of(meter, interval, battery_joules);
    add(&energy->machine.total, total);
    if (seconds > 0 && !isnan(total) && !(total / seconds <= energy->max_watts))
        energy->max_watts = total / seconds;
    if (!isnan(energy->machine.total) && !isnan(energy->combined))
        energy->unattributed = fmax(0, energy->machine.total - energy->combined);
}

void energy_meter_read(struct energy_meter *meter, const struct energy_shares *now, int64_t now_ns)
{
    bool first = meter->since_ns == 0;
    struct interval interval;
    double watts = NAN;
    double seconds = first ? 0 : (double)(now_ns - meter->since_ns) / (double)NS_PER_SECOND;
    take_domains(meter, &interval, now_ns);
    if (meter->has_battery)
        battery_read(meter->sysfs_root, &watts);
    read_gpus(meter, now, &interval, now_ns);
    if (!first) {
        attribute_cpu(meter, now, interval.domains[ENERGY_PACKAGE]);
        attribute_dram(meter, now, interval.domains[ENERGY_DRAM]);
        add_interval(meter, &interval, watts * seconds, seconds);
        meter->busy_seconds += now->machine_busy_seconds - meter->since.machine_busy_seconds;
        meter->cpu_seconds += now->machine_cpu_seconds - meter->since.machine_cpu_seconds;
        if (meter->cpu_seconds > 0)
            meter->energy.idle_share = 1 - share(meter->busy_seconds, meter->cpu_seconds);
    }
    meter->since_ns = now_ns;
    meter->since = *now;
}
