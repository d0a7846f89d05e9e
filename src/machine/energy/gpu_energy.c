#include "machine/energy/gpu_energy.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Power is an average over up to a second, so a counter is compared with it only over longer times.
 */
#define COMPARED_SECONDS 10
#define MAX_DISAGREEMENT 0.1
/* In an interval as short as this without a reading power does not change much. */
#define SHORT_SECONDS 0.5
/* Part of the joules that a counter may lack at the end: it moves every 20 to 100 ms. */
#define MAX_AHEAD 0.01

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
    return clock_seconds_of_ns(to_ns - from_ns);
}

void gpu_energy_init(struct gpu_energy *gpu, int64_t since_ns)
{
    *gpu = (struct gpu_energy){.joules = NAN,
        .since_ns = since_ns,
        .now_ns = since_ns,
        .power_watts = NAN,
        .mean_watts = NAN,
        .read_joules = NAN};
}

/* Returns the joules between two readings: the counter's increase. While it does not change they
 * are integrated from power (NaN: not known), and later only the excess is taken from the counter.
 */
static double reconcile(struct gpu_energy *gpu, double counted, double integrated)
{
    if (isnan(counted)) {
        gpu->ahead_joules = 0; /* it restarts, and gives nothing for the time before */
        return integrated;
    }
    bool stands_still = energy_counter_stands_still(&gpu->counter);
    if (stands_still || (gpu->counter.stood_still && !isnan(integrated)))
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

/* Returns the counter's increase, 0 if it was not read again; NaN: there is none, or it decreased,
 * or cannot be read. */
static double count(struct gpu_energy *gpu, const struct gpu_energy_reading *reading)
{
    if (isnan(reading->energy_joules)) {
        /* It restarts when it can be read again: power may have been integrated meanwhile. */
        gpu->counter_failed |= gpu->has_counter;
        gpu->counter.has_last = false;
        return NAN;
    }
    gpu->has_counter = true;
    int64_t at_ns = reading->energy_ns ? reading->energy_ns : reading->read_ns;
    if (gpu->counter.has_last && at_ns == gpu->counter.last_ns)
        return 0;
    return energy_counter_advance(&gpu->counter, reading->energy_joules, at_ns);
}

/* Returns the fault of its counter, or NULL. */
static const char *fault_of(const struct gpu_energy *gpu)
{
    const struct energy_counter *counter = &gpu->counter;
    return counter->stood_still  ? "did not advance"
           : counter->went_back  ? "decreased"
           : counter->went_ahead ? "jumped ahead"
           : gpu->counter_failed ? "could no longer be read"
                                 : NULL;
}

/* Adds a reading of the driver, and the joules since the one before. */
static void add_reading(struct gpu_energy *gpu, const struct gpu_energy_reading *reading)
{
    int64_t from_ns = gpu->read_ns, at_ns = reading->read_ns;
    double mean = isnan(gpu->power_watts) ? reading->power_watts
                                          : (gpu->power_watts + reading->power_watts) / 2;
    double seconds = seconds_between(from_ns, at_ns);
    double counted = count(gpu, reading);
    gpu->read_ns = at_ns;
    gpu->power_watts = reading->power_watts;
    if (from_ns == 0) {
        /* Shortly before the first reading the power was the same. */
        double before = fmax(0, seconds_between(gpu->since_ns, at_ns));
        if (before == 0 || before >= SHORT_SECONDS || isnan(gpu->power_watts)) {
            gpu->unknown_seconds = before;
            return;
        }
        gpu->mean_watts = gpu->power_watts;
        gpu->read_joules = gpu->power_watts * before;
        return;
    }

    double integrated = mean * seconds, joules = reconcile(gpu, counted, integrated);
    if (!isnan(counted) && !isnan(integrated)) {
        gpu->counted_joules += counted;
        gpu->integrated_joules += integrated;
        gpu->seconds += seconds;
    }
    if (fault_of(gpu) && !isnan(mean) && (isnan(counted) || gpu->counter.stood_still))
        gpu->power_stood_in = true;
    gpu->mean_watts = joules / seconds;
    gpu->is_lost = isnan(joules) && !isnan(gpu->joules);
    /* A counter that has not changed yet adds everything with its first change. */
    if (gpu->is_lost || (isnan(joules) && isnan(counted)))
        gpu->unknown_seconds += seconds;
    if (isnan(joules) || at_ns <= gpu->since_ns)
        return;
    /* Of an interval across the start only the part after it counts. */
    if (from_ns < gpu->since_ns)
        joules *= seconds_between(gpu->since_ns, at_ns) / seconds;
    gpu->read_joules = (isnan(gpu->read_joules) ? 0 : gpu->read_joules) + joules;
}

/* Returns the joules up to that moment; NaN: not known. */
static double joules_at(const struct gpu_energy *gpu, int64_t now_ns)
{
    bool is_past = now_ns < gpu->read_ns;
    double watts = is_past || isnan(gpu->power_watts) ? gpu->mean_watts : gpu->power_watts;
    int64_t from_ns = gpu->read_ns > gpu->since_ns ? gpu->read_ns : gpu->since_ns;
    if (isnan(watts) || (is_past && isnan(gpu->read_joules)))
        return gpu->read_joules;
    return (isnan(gpu->read_joules) ? 0 : gpu->read_joules) +
           watts * seconds_between(from_ns, now_ns);
}

double gpu_energy_advance(
    struct gpu_energy *gpu, const struct gpu_energy_reading *reading, int64_t now_ns)
{
    if (reading->read_ns > gpu->read_ns)
        add_reading(gpu, reading);
    else if (reading->read_ns == 0)
        gpu->is_lost = !isnan(gpu->joules);
    gpu->now_ns = now_ns;
    double joules = gpu->is_lost ? NAN : joules_at(gpu, now_ns);
    if (isnan(joules))
        return NAN;
    double before = isnan(gpu->joules) ? 0 : gpu->joules;
    gpu->joules = fmax(before, joules);
    return gpu->joules - before;
}

double gpu_energy_take_back(struct gpu_energy *gpu)
{
    double joules = gpu->is_lost ? NAN : joules_at(gpu, gpu->now_ns);
    if (!(joules < gpu->joules))
        return 0;
    double excess = gpu->joules - joules;
    gpu->joules = joules;
    return excess;
}

/* ---- Faults ---- */

double gpu_energy_unknown_seconds(const struct gpu_energy *gpu)
{
    return isnan(gpu->joules) ? seconds_between(gpu->since_ns, gpu->now_ns) : gpu->unknown_seconds;
}

/* Writes a fault of the counter, or that it disagrees with the power. False: there is none. */
static bool explain_counter(const struct gpu_energy *gpu, size_t index, char *text, size_t size)
{
    const char *fault = fault_of(gpu);
    char missing[64] = "";
    if (gpu->unknown_seconds >= SHORT_SECONDS)
        text_fit(missing, sizeof missing,
            ", and nothing was reported for %.1f s, which are missing", gpu->unknown_seconds);
    double larger = fmax(gpu->counted_joules, gpu->integrated_joules);
    double difference = fabs(gpu->counted_joules - gpu->integrated_joules);
    if (fault)
        snprintf(text, size, "the counter of GPU %zu %s; %s%s", index, fault,
            gpu->power_stood_in ? "its power was integrated instead"
                                : "the energy it missed is not known",
            gpu->power_stood_in ? missing : "");
    else if (gpu->seconds >= COMPARED_SECONDS && difference > MAX_DISAGREEMENT * larger)
        text_fit(text, size,
            "GPU %zu counted %.1f J in %.2f s, but its integrated power gives %.1f J%s", index,
            gpu->counted_joules, gpu->seconds, gpu->integrated_joules, missing);
    else
        return false;
    return true;
}

bool gpu_energy_explain(const struct gpu_energy *gpu, size_t index, char *text, size_t size)
{
    double guessed = seconds_between(gpu->read_ns, gpu->now_ns);
    bool is_there = gpu->now_ns != gpu->since_ns;
    if (!is_there)
        return false;
    if (explain_counter(gpu, index, text, size))
        return true;
    if (gpu->has_counter && !gpu->counter.has_moved && !(gpu->joules == 0))
        snprintf(text, size, "the counter of GPU %zu has not advanced yet%s", index,
            isnan(gpu->joules) ? "" : "; its power was integrated instead");
    else if (gpu->ahead_joules > MAX_AHEAD * gpu->joules)
        text_fit(text, size,
            "the counter of GPU %zu had not advanced at the end: %.1f J are its power, integrated",
            index, gpu->ahead_joules);
    else if (isnan(gpu->joules))
        snprintf(text, size, "no counter gives the joules of GPU %zu, which is skipped", index);
    else if (gpu->unknown_seconds >= SHORT_SECONDS)
        text_fit(text, size, "GPU %zu reported nothing for %.1f s, which are missing", index,
            gpu->unknown_seconds);
    else if (guessed >= SHORT_SECONDS)
        text_fit(text, size, "GPU %zu did not answer in the last %.1f s%s", index, guessed,
            gpu->is_lost ? ", which are missing" : ": its last power reading is assumed");
    else
        return false;
    return true;
}

/* ---- Users ---- */

/* Adds to the first MIG instance of a card what is used by its others, of which a container sees
 * only its own: the memory in use is the card's. Where our use of one is not known, it is not known
 * of all. */
static struct gpu_device_sample card_of(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t first)
{
    struct gpu_device_sample card = sample->devices[first];
    card.ram_used_bytes = card.card_ram_used_bytes;
    for (size_t i = first + 1; i < sample->n_devices; i++) {
        const struct gpu_device_sample *instance = &sample->devices[i];
        if (!devices[i].mig || strcmp(devices[i].pci_address, devices[first].pci_address) != 0)
            continue;
        card.main_ram_bytes += instance->main_ram_bytes;
        card.descendants_ram_bytes += instance->descendants_ram_bytes;
    }
    return card;
}

struct gpu_users gpu_users_find(
    const struct gpu_sample *sample, const struct gpu_device *devices, size_t index)
{
    struct gpu_device_sample gpu =
        devices[index].mig ? card_of(sample, devices, index) : sample->devices[index];
    if (!isnan(gpu.main_sm_percent) && !isnan(gpu.descendants_sm_percent)) {
        /* Where others are not known, they may have used everything that we did not. */
        double ours = gpu.main_sm_percent + gpu.descendants_sm_percent;
        double all = fmax(gpu.utilization_percent, gpu.all_sm_percent);
        return (struct gpu_users){GPU_USERS_BY_USE, gpu.main_sm_percent, gpu.descendants_sm_percent,
            fmax(isnan(all) ? 100 : all, ours)};
    }
    bool knows_memory = !isnan(gpu.main_ram_bytes) && !isnan(gpu.descendants_ram_bytes) &&
                        !isnan(gpu.ram_used_bytes);
    if (knows_memory && !gpu.lacks_samples)
        return (struct gpu_users){
            GPU_USERS_BY_MEMORY, gpu.main_ram_bytes, gpu.descendants_ram_bytes, gpu.ram_used_bytes};
    return (struct gpu_users){.basis = GPU_USERS_UNKNOWN};
}
