#include "machine/energy/energy_meter.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "machine/energy/energy_counters.h"
#include "machine/energy/powercap.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Counters that can wrap are read at least this often. */
#define KEEP_UP_NS (60 * NS_PER_SECOND)
/* Part of the GPUs' joules that may be unattributed where our share of the others is 0. */
#define MAX_UNSHARED 0.02

/* ---- Beginning ---- */

void energy_meter_init(struct energy_meter *meter, const char *sysfs_root)
{
    *meter = (struct energy_meter){.sysfs_root = sysfs_root, .shares_out = true};
    energy_counters_init(&meter->cpu, sysfs_root);
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        gpu_energy_init(&meter->gpus[i], 0);
    energy_peak_init(&meter->peak);
    meter->package_share = meter->dram_share = meter->gpu_share = meter->gpu_main_share = NAN;
    meter->main_share = meter->descendants_share = NAN;

    double watts;
    struct gput_error error;
    int code = battery_read(sysfs_root, &watts, &error);
    meter->has_battery = code == GPUT_OK;
    if (code != GPUT_OK && code != GPUT_ERROR_UNSUPPORTED)
        text_fit(meter->why_no_battery, sizeof meter->why_no_battery, "%s", error.message);

    struct gput_energy *energy = &meter->energy;
    energy->machine.package = energy->machine.core = energy->machine.uncore = NAN;
    energy->machine.dram = energy->machine.psys = energy->machine.gpu = NAN;
    energy->machine.battery = energy->machine.total = NAN;
    energy->main = energy->descendants = energy->combined = energy->unattributed = NAN;
    energy->idle_share = energy->mean_watts = energy->max_watts = energy->co2e_grams = NAN;
}

void energy_meter_finish(struct energy_meter *meter)
{
    energy_counters_finish(&meter->cpu);
}

bool energy_meter_has_any(const struct energy_meter *meter)
{
    return meter->cpu.uses_perf || energy_counters_may_wrap(&meter->cpu) || meter->has_battery ||
           !isnan(meter->energy.machine.gpu);
}

/* ---- Counters ---- */

/* Joules of every domain over the interval. */
struct interval {
    double domains[ENERGY_DOMAINS];
    double gpu;
};

int64_t energy_meter_due_ns(const struct energy_meter *meter)
{
    bool wraps = !meter->skips_cpu && energy_counters_may_wrap(&meter->cpu);
    return wraps && meter->since_ns ? meter->cpu.read_ns + KEEP_UP_NS : INT64_MAX;
}

void energy_meter_update_counters(struct energy_meter *meter, int64_t now_ns)
{
    energy_counters_read(&meter->cpu, now_ns);
}

/* ---- Shares ---- */

/* Returns the share of a part in a whole, from 0 to 1. */
static double share(double part, double whole)
{
    if (!(part > 0) || !(whole > 0))
        return 0;
    return part < whole ? part / whole : 1;
}

/* Adds shares of some joules to main and the descendants; together never more than all. Returns
 * their sum; NaN: not known. */
static double attribute(struct energy_meter *meter, double joules, double main, double descendants)
{
    if (isnan(joules) || !meter->shares_out)
        return NAN;
    double sum = main + descendants;
    if (sum > 1) {
        main /= sum;
        descendants /= sum;
    }
    number_add_known(&meter->main_share, joules * main);
    number_add_known(&meter->descendants_share, joules * descendants);
    return joules * (main + descendants);
}

/* ---- GPUs ---- */

/* Shares the joules of a GPU out by its users. */
static void attribute_gpu(struct energy_meter *meter, const struct gpu_users *users, double joules)
{
    if (users->basis == GPU_USERS_UNKNOWN) {
        meter->unshared_joules += joules;
        return;
    }
    meter->gpu_by_use |= users->basis == GPU_USERS_BY_USE;
    meter->gpu_by_memory |= users->basis == GPU_USERS_BY_MEMORY;
    double main_before = isnan(meter->main_share) ? 0 : meter->main_share;
    number_add_known(&meter->gpu_share, attribute(meter, joules, share(users->main, users->all),
                                            share(users->descendants, users->all)));
    number_add_known(&meter->gpu_main_share, meter->main_share - main_before);
}

/* Takes joules back: from main and the descendants as much of them as they have of all. */
static void take_back_shares(struct energy_meter *meter, double joules, double all)
{
    if (isnan(meter->gpu_share))
        return;
    double main = joules * share(meter->gpu_main_share, all);
    double combined = joules * share(meter->gpu_share, all);
    meter->gpu_share -= combined;
    meter->gpu_main_share -= main;
    meter->main_share -= main;
    meter->descendants_share -= combined - main;
}

/* Reads and shares out the joules of all GPUs. MIG instances of a card have no energy of their own,
 * and that of a GPU in the CPU's package is counted there. */
static void read_gpus(struct energy_meter *meter, const struct energy_shares *now,
    struct interval *interval, int64_t now_ns)
{
    double excess = 0;
    interval->gpu = NAN;
    meter->gpu_is_lost = false;
    for (size_t i = 0; now->gpus && i < now->gpus->n_devices; i++) {
        const struct gpu_device *device = &now->gpu_devices[i];
        bool is_in_package = device->in_package && energy_counters_have_package(&meter->cpu);
        if (device->mig ? !device->is_card_leader : is_in_package)
            continue;
        /* Compute the joules of the GPU since the last call; NaN where they are not known. */
        const struct gpu_device_sample *sample = &now->gpus->devices[i];
        struct gpu_energy_reading reading = {.read_ns = sample->read_ns,
            .power_watts = device->power_is_counted ? NAN : sample->power_watts,
            .energy_joules = sample->energy_joules,
            .energy_ns = sample->energy_ns};
        if (device->is_card_leader) {
            reading.power_watts = sample->card_power_watts;
            reading.energy_joules = sample->card_energy_joules;
        }
        double joules = gpu_energy_advance(&meter->gpus[i], &reading, now_ns);
        meter->gpu_is_lost |= meter->gpus[i].is_lost;
        if (isnan(joules))
            continue;
        number_add_known(&interval->gpu, joules);
        struct gpu_users users = gpu_users_find(now->gpus, now->gpu_devices, i);
        attribute_gpu(meter, &users, joules);
        if (now->is_last)
            excess += gpu_energy_take_back(&meter->gpus[i]);
    }
    if (excess > 0) {
        take_back_shares(meter, excess, meter->energy.machine.gpu + interval->gpu);
        interval->gpu -= excess;
    }
}

/* ---- An interval ---- */

/* Adds the joules of an interval, and of batteries where there is nothing else, to the figures. */
static void add_interval(struct energy_meter *meter, const struct interval *interval,
    double battery_joules, double seconds)
{
    struct gput_energy *energy = &meter->energy;
    number_add_known(&energy->machine.package, interval->domains[ENERGY_PACKAGE]);
    number_add_known(&energy->machine.core, interval->domains[ENERGY_CORE]);
    number_add_known(&energy->machine.uncore, interval->domains[ENERGY_UNCORE]);
    number_add_known(&energy->machine.dram, interval->domains[ENERGY_DRAM]);
    number_add_known(&energy->machine.psys, interval->domains[ENERGY_PSYS]);
    number_add_known(&energy->machine.gpu, interval->gpu);
    number_add_known(&energy->machine.battery, battery_joules);

    double total = NAN;
    if (!energy_counters_have_package(&meter->cpu) && !isnan(battery_joules)) {
        total = battery_joules;
    } else {
        number_add_known(&total, interval->domains[ENERGY_PACKAGE]);
        number_add_known(&total, interval->domains[ENERGY_DRAM]);
        number_add_known(&total, interval->gpu);
    }
    number_add_known(&energy->machine.total, total);
    /* Set the sums of our shares. They are unknown where GPUs have 0 joules and too much is
     * unattributed. */
    bool is_little = meter->unshared_joules <= MAX_UNSHARED * energy->machine.gpu;
    bool is_hidden = !(meter->gpu_share > 0) && meter->unshared_joules > 0 && !is_little;
    energy->main = is_hidden ? NAN : meter->main_share;
    energy->descendants = is_hidden ? NAN : meter->descendants_share;
    energy->combined = energy->main + energy->descendants;

    /* Partly known intervals are no peak, nor is the increase of a counter while it could not be
     * read, which comes at once. */
    bool was_partial = meter->was_partial;
    meter->was_partial = energy_meter_is_partial(meter);
    if (isnan(total) || meter->was_partial || was_partial)
        energy_peak_break(&meter->peak);
    else
        energy_peak_add(&meter->peak, total, seconds);
    energy->max_watts = meter->peak.watts;

    /* All of it counts, too, where its users are not known. */
    if (meter->shares_out && !isnan(energy->machine.total))
        energy->unattributed =
            fmax(0, energy->machine.total - (isnan(energy->combined) ? 0 : energy->combined));
}

/* Begins the first interval and returns its seconds: joules count from the start of the session on,
 * or else from the first reading. */
static double begin(struct energy_meter *meter, int64_t now_ns)
{
    if (!meter->start_ns)
        meter->start_ns = now_ns;
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        gpu_energy_init(&meter->gpus[i], meter->start_ns);
    return clock_seconds_of_ns(now_ns - meter->start_ns);
}

void energy_meter_read(struct energy_meter *meter, const struct energy_shares *now, int64_t now_ns)
{
    bool first = meter->since_ns == 0;
    /* Counters can have been read before the first interval ends: energy_meter_update_counters() */
    bool has_cpu = !first || meter->cpu.read_ns != 0;
    struct interval interval;
    double watts = NAN;
    double seconds = first ? begin(meter, now_ns) : clock_seconds_of_ns(now_ns - meter->since_ns);
    if (!meter->skips_cpu)
        energy_counters_read(&meter->cpu, now_ns);
    energy_counters_take(&meter->cpu, interval.domains);
    read_gpus(meter, now, &interval, now_ns);
    if (seconds > 0 && meter->has_battery && !meter->skips_cpu)
        battery_read(meter->sysfs_root, &watts, NULL);
    if (has_cpu) {
        /* Share the joules of the packages out by CPU time, and those of DRAM by RAM in use. */
        const struct energy_shares *since = &meter->since;
        double main = now->main_cpu_seconds - since->main_cpu_seconds;
        double descendants = now->descendants_cpu_seconds - since->descendants_cpu_seconds;
        double all = main + descendants + now->other_cpu_seconds - since->other_cpu_seconds;
        number_add_known(&meter->package_share, attribute(meter, interval.domains[ENERGY_PACKAGE],
                                                    share(main, all), share(descendants, all)));

        double combined_ram = share(now->combined_ram_bytes, now->machine_ram_bytes);
        double main_ram = fmin(share(now->main_ram_bytes, now->machine_ram_bytes), combined_ram);
        number_add_known(&meter->dram_share,
            attribute(meter, interval.domains[ENERGY_DRAM], main_ram, combined_ram - main_ram));
        meter->since = *now; /* shares of the first interval are since the start of the session */
    }
    add_interval(meter, &interval, watts * seconds, seconds);

    /* Idle time says something of joules that are shared out by CPU time, and nothing without
     * them. */
    struct gput_energy *energy = &meter->energy;
    bool has_joules = !isnan(energy->machine.package) || !isnan(energy->machine.dram);
    if (!first && has_joules && now->machine_cpu_seconds > 0 && !meter->skips_cpu)
        energy->idle_share = 1 - share(now->machine_busy_seconds, now->machine_cpu_seconds);
    meter->since_ns = now_ns;
}

/* ---- Counters that stopped, and faults ---- */

bool energy_meter_is_partial(const struct energy_meter *meter)
{
    return meter->gpu_is_lost || meter->cpu.is_lost[ENERGY_PACKAGE] ||
           meter->cpu.is_lost[ENERGY_DRAM];
}

void energy_meter_figures(const struct energy_meter *meter, double joules[GPUT_ENERGY_FIGURE_COUNT])
{
    static const enum gput_energy_figure of_domain[ENERGY_DOMAINS] = {
        [ENERGY_PACKAGE] = GPUT_ENERGY_PACKAGE,
        [ENERGY_CORE] = GPUT_ENERGY_CORE,
        [ENERGY_UNCORE] = GPUT_ENERGY_UNCORE,
        [ENERGY_DRAM] = GPUT_ENERGY_DRAM,
        [ENERGY_PSYS] = GPUT_ENERGY_PSYS,
    };
    energy_figures(&meter->energy, joules);
    for (int i = 0; i < ENERGY_DOMAINS; i++) {
        if (meter->cpu.is_lost[i])
            joules[of_domain[i]] = NAN;
    }
    if (meter->gpu_is_lost)
        joules[GPUT_ENERGY_GPU] = NAN;
    if (energy_meter_is_partial(meter))
        joules[GPUT_ENERGY_TOTAL] = joules[GPUT_ENERGY_MAIN] = joules[GPUT_ENERGY_DESCENDANTS] =
            joules[GPUT_ENERGY_COMBINED] = NAN;
}

double energy_meter_unknown_seconds(const struct energy_meter *meter)
{
    const struct gput_energy *energy = &meter->energy;
    bool is_in_total[ENERGY_DOMAINS] = {
        [ENERGY_PACKAGE] = !isnan(energy->machine.package),
        [ENERGY_DRAM] = !isnan(energy->machine.dram),
    };
    double seconds =
        clock_seconds_of_ns(energy_counters_unknown_ns(&meter->cpu, meter->start_ns, is_in_total));
    for (size_t i = 0; i < GPU_MAX_DEVICES && !isnan(meter->energy.machine.gpu); i++)
        seconds = fmax(seconds, gpu_energy_unknown_seconds(&meter->gpus[i]));
    return seconds;
}

double energy_meter_gpu_joules(const struct energy_meter *meter, size_t i)
{
    return meter->gpus[i].is_lost ? NAN : meter->gpus[i].joules;
}

void energy_meter_explain_gpus(const struct energy_meter *meter, char *text, size_t size)
{
    struct fault_list faults;
    char line[160];
    fault_list_begin(&faults, text, size);
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++) {
        /* Where no GPU gives joules, that is not a fault of one. */
        bool is_counted = meter->gpus[i].has_counter || !isnan(meter->energy.machine.gpu);
        if (is_counted && gpu_energy_explain(&meter->gpus[i], i, line, sizeof line))
            fault_list_add(&faults, line);
    }
    fault_list_end(&faults);
}

bool energy_meter_integrates_power(const struct energy_meter *meter)
{
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++) {
        if (!isnan(meter->gpus[i].joules) && !meter->gpus[i].has_counter)
            return true;
    }
    return false;
}

/* ---- Power between two readings ---- */

/* ---- Now ---- */

#define INTERVAL_NS NS_PER_SECOND
#define FIRST_INTERVAL_NS (NS_PER_SECOND / 10)

void energy_power_init(struct energy_power *power)
{
    *power = (struct energy_power){0};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        power->watts[i] = power->joules[i] = NAN;
}

/* Whether the power of some figure is known. */
static bool is_known(const struct energy_power *power)
{
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        if (!isnan(power->watts[i]))
            return true;
    }
    return false;
}

void energy_power_add(
    struct energy_power *power, const double joules[GPUT_ENERGY_FIGURE_COUNT], int64_t now_ns)
{
    int64_t passed_ns = now_ns - power->since_ns;
    bool first = power->since_ns == 0;
    if (!first && passed_ns < (is_known(power) ? INTERVAL_NS : FIRST_INTERVAL_NS))
        return;
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        /* At the end they are less where too much was extrapolated: that is not a power. */
        if (!first && !(joules[i] < power->joules[i]))
            power->watts[i] =
                (joules[i] - power->joules[i]) * (double)NS_PER_SECOND / (double)passed_ns;
        power->known[i] |= !isnan(joules[i]);
        /* A figure is first known at the end of its first interval. */
        power->joules[i] = power->known[i] ? joules[i] : 0;
    }
    power->since_ns = now_ns;
}

/* ---- At most ---- */

/* One second, so that ticks ten times as fast cover a burst of that length, whatever their phase.
 */
#define STRETCH_SECONDS 0.88

void energy_peak_init(struct energy_peak *peak)
{
    *peak = (struct energy_peak){.watts = NAN};
}

void energy_peak_break(struct energy_peak *peak)
{
    peak->count = 0;
}

/* Returns the sum of values. */
static double sum(const double *values, size_t count)
{
    double total = 0;
    for (size_t i = 0; i < count; i++)
        total += values[i];
    return total;
}

void energy_peak_add(struct energy_peak *peak, double joules, double seconds)
{
    if (peak->count == ENERGY_PEAK_INTERVALS) {
        peak->joules[peak->count - 1] += joules;
        peak->seconds[peak->count - 1] += seconds;
    } else {
        peak->joules[peak->count] = joules;
        peak->seconds[peak->count++] = seconds;
    }

    /* The shortest stretch that ends now and is long enough is kept. */
    size_t first = 0;
    while (first + 1 < peak->count &&
           sum(peak->seconds + first + 1, peak->count - first - 1) >= STRETCH_SECONDS)
        first++;
    peak->count -= first;
    memmove(peak->joules, peak->joules + first, peak->count * sizeof *peak->joules);
    memmove(peak->seconds, peak->seconds + first, peak->count * sizeof *peak->seconds);

    double length = sum(peak->seconds, peak->count);
    double watts = sum(peak->joules, peak->count) / length;
    bool is_long = length >= STRETCH_SECONDS;
    if (length > 0 && (!peak->has_stretch || (is_long && watts > peak->watts)))
        peak->watts = watts;
    peak->has_stretch |= is_long;
}

/* ---- CPU time of others ---- */

/* Older activity of others is little evidence for now. */
#define MAX_STRETCH_NS (10 * NS_PER_SECOND)
/* Half a tick, since seeing none is likely even when half a one was used: so shares of few ticks
 * are too high as often as too low. */
#define UNSEEN_SECONDS 0.005
/* The weight of time in which the tracked ones were idle: as if they had used this many CPUs. */
#define IDLE_WEIGHT 0.01

/* Returns the reading at that place in the ring; 0 is the oldest. */
static struct other_cpu_reading *reading(struct other_cpu *others, size_t i)
{
    return &others->readings[(others->first + i) % OTHER_CPU_READINGS];
}

static void drop_first(struct other_cpu *others)
{
    others->first = (others->first + 1) % OTHER_CPU_READINGS;
    others->count--;
}

void other_cpu_begin(struct other_cpu *others, int64_t now_ns)
{
    *others = (struct other_cpu){0};
    others->readings[0].time_ns = now_ns;
    others->count = 1;
}

void other_cpu_read(
    struct other_cpu *others, int64_t now_ns, double busy_seconds, double tracked_seconds)
{
    const struct other_cpu_reading *before = reading(others, others->count - 1);
    if (now_ns <= before->time_ns)
        return;
    double interval = clock_seconds_of_ns(now_ns - before->time_ns);
    double tracked = tracked_seconds - before->tracked_seconds;
    double weight = tracked / interval + IDLE_WEIGHT;
    const struct other_cpu_reading now = {.time_ns = now_ns,
        .busy_seconds = busy_seconds,
        .tracked_seconds = tracked_seconds,
        .weighted_use =
            before->weighted_use + weight * (busy_seconds - before->busy_seconds - tracked),
        .weighted_time = before->weighted_time + weight * interval};
    if (others->count == OTHER_CPU_READINGS)
        drop_first(others);
    *reading(others, others->count++) = now;

    /* The shortest interval with enough ticks is kept, or the longest one; at least the last one.
     */
    while (others->count > 2 &&
           (busy_seconds - reading(others, 1)->busy_seconds >= OTHER_CPU_ENOUGH_SECONDS ||
               now_ns - reading(others, 0)->time_ns > MAX_STRETCH_NS))
        drop_first(others);

    const struct other_cpu_reading *start = reading(others, 0);
    double use = now.weighted_use - start->weighted_use;
    /* The machine's ticks can lag behind our own clocks. */
    if (use < 0)
        use = 0;
    if (busy_seconds - start->busy_seconds < OTHER_CPU_ENOUGH_SECONDS)
        use += weight * UNSEEN_SECONDS;
    others->seconds += interval * use / (now.weighted_time - start->weighted_time);
}
