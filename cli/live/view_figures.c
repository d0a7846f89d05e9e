#include "view_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A figure: where it comes from and how it is shown. */
struct kind {
    const char *name;
    enum quantity quantity;
    enum palette palette;
    int tracked, machine; /* enum gput_measurement_id; NO_MEASUREMENT: no such one */
    size_t member;        /* of struct machine_figures, for the figures of the machine */
};

enum { NO_MEASUREMENT = -1 };

#define OF_MACHINE(name, quantity, palette, member)                                                \
    {                                                                                              \
        name, quantity, palette, NO_MEASUREMENT, NO_MEASUREMENT,                                   \
            offsetof(struct machine_figures, member)                                               \
    }

static const struct kind kinds[FIGURE_COUNT] = {
    [FIGURE_CPU] = {"CPU", QUANTITY_CORES, PALETTE_USE, GPUT_CPU_COMBINED_SUM, GPUT_CPU_SYSTEM_SUM,
        0},
    [FIGURE_RAM] = {"RAM", QUANTITY_BYTES, PALETTE_SCARCE, GPUT_COMBINED_RAM, GPUT_SYSTEM_RAM, 0},
    [FIGURE_SWAPPED] = {"In swap", QUANTITY_BYTES, PALETTE_SCARCE, GPUT_COMBINED_SWAPPED_RAM,
        NO_MEASUREMENT, 0},
    [FIGURE_GPU] = {"GPU", QUANTITY_PERCENT, PALETTE_USE, GPUT_GPU_SUM_UTILIZATION,
        GPUT_GPU_SUM_UTILIZATION, 0},
    [FIGURE_GPU_RAM] = {"GPU RAM", QUANTITY_BYTES, PALETTE_SCARCE, GPUT_COMBINED_GPU_RAM,
        GPUT_SYSTEM_GPU_RAM, 0},
    [FIGURE_POWER] = {"Power", QUANTITY_WATTS, PALETTE_PLAIN, NO_MEASUREMENT, NO_MEASUREMENT, 0},
    [FIGURE_THREADS] = {"Threads", QUANTITY_COUNT, PALETTE_PLAIN, GPUT_COMBINED_THREADS,
        NO_MEASUREMENT, 0},
    [FIGURE_CPU_WAIT] = OF_MACHINE("CPU wait", QUANTITY_PERCENT, PALETTE_WAIT, cpu_wait_percent),
    [FIGURE_STORAGE_WAIT] =
        OF_MACHINE("Storage wait", QUANTITY_PERCENT, PALETTE_WAIT, storage_wait_percent),
    [FIGURE_MEMORY_WAIT] =
        OF_MACHINE("Memory wait", QUANTITY_PERCENT, PALETTE_WAIT, memory_wait_percent),
    [FIGURE_SWAP] = OF_MACHINE("Swap", QUANTITY_BYTES, PALETTE_SCARCE, swap_bytes),
    [FIGURE_DISK] = OF_MACHINE("Disks", QUANTITY_RATE, PALETTE_PLAIN, disk_bytes_a_second),
    [FIGURE_NETWORK] = OF_MACHINE("Network", QUANTITY_RATE, PALETTE_PLAIN, network_bytes_a_second),
};

void view_figures_finish(struct view_figures *figures)
{
    free(figures->gpus);
    free(figures->cores);
    *figures = (struct view_figures){0};
}

const char *figure_name(const struct view_figures *figures, enum figure_id id)
{
    bool is_of_machine = id == FIGURE_POWER && !figures->is_machine && !figures->knows_share;
    return is_of_machine ? "Machine" : kinds[id].name;
}

enum quantity figure_quantity(enum figure_id id)
{
    return kinds[id].quantity;
}

enum palette figure_palette(enum figure_id id)
{
    return kinds[id].palette;
}

double figure_value(const struct view_figures *figures, enum figure_id id)
{
    return live_curve_value(&figures->figures[id].curve, figures->back_seconds);
}

static int measurement_of(const struct view_figures *figures, enum figure_id id)
{
    return figures->is_machine ? kinds[id].machine : kinds[id].tracked;
}

static enum gput_energy_figure energy_of(const struct view_figures *figures)
{
    return figures->is_machine || !figures->knows_share ? GPUT_ENERGY_TOTAL : GPUT_ENERGY_COMBINED;
}

/* Returns the value of a figure in a snapshot, NaN where it is not known. */
static double value_of(
    const struct view_figures *figures, const struct gput_snapshot *snapshot, enum figure_id id)
{
    int measurement = measurement_of(figures, id);
    if (id == FIGURE_POWER)
        return gput_snapshot_watts(snapshot, energy_of(figures));
    if (measurement == NO_MEASUREMENT) {
        /* Threads of the machine are those of all processes. */
        double threads = 0;
        const struct gput_snapshot_process *process;
        for (size_t i = 0; (process = gput_snapshot_process(snapshot, i)); i++)
            threads += process->threads;
        return threads;
    }
    return gput_snapshot_sample(snapshot)->values[measurement];
}

/* Adds a value to the curve of a figure, and raises its peak. */
static void add_figure(struct view_figures *figures, enum figure_id id,
    const struct gput_snapshot *snapshot, const struct gput_results *results)
{
    struct figure *figure = &figures->figures[id];
    double value = value_of(figures, snapshot, id);
    int measurement = measurement_of(figures, id);
    live_curve_add(&figure->curve, figures->elapsed_seconds, value);
    figure->peak = figure->curve.peak;
    if (results && measurement != NO_MEASUREMENT)
        figure->peak =
            fmax(figure->peak, gput_results_max(results, (enum gput_measurement_id)measurement));
    figure->is_known |= !isnan(value);
    if (!figure->is_known)
        figure->full = NAN;
}

static double lower(double a, double b)
{
    return isnan(a) || b < a ? b : a;
}

/* Returns the name of a process, "" where it is not in the snapshot. */
static const char *name_of(const struct gput_snapshot *snapshot, pid_t pid)
{
    const struct gput_snapshot_process *process;
    for (size_t i = 0; (process = gput_snapshot_process(snapshot, i)); i++) {
        if (process->pid == pid)
            return process->name;
    }
    return "";
}

/* As far as there is space; amounts where there are several GPUs, as the table has the sums. */
static void name_users(
    const struct gput_snapshot *snapshot, size_t gpu, bool has_several, struct gpu_figure *figure)
{
    size_t used = 0, size = sizeof figure->users;
    const struct gput_snapshot_gpu_user *user;
    figure->users[0] = '\0';
    for (size_t i = 0; (user = gput_snapshot_gpu_user(snapshot, gpu, i)) && used < size; i++) {
        char amount[QUANTITY_SIZE];
        if (user->ram_bytes == 0)
            continue;
        used += (size_t)snprintf(figure->users + used, size - used, "%s%s %d%s%s", used ? ", " : "",
            name_of(snapshot, user->pid), (int)user->pid, has_several ? " " : "",
            has_several ? quantity_text(QUANTITY_BYTES, user->ram_bytes, amount) : "");
    }
}

/* Sets the figures of a GPU, and adds to its curves. */
static void add_gpu(struct gpu_figure *figure, const struct gput_snapshot_gpu *gpu, double seconds)
{
    snprintf(figure->name, sizeof figure->name, "%s", gpu->name);
    figure->capacity_bytes = gpu->ram_capacity_bytes;
    figure->watts = gpu->power_watts;
    figure->watts_limit = gpu->power_limit_watts;
    figure->celsius = gpu->temperature_celsius;
    figure->slowdown_celsius = gpu->slowdown_celsius;
    figure->clock_mhz = gpu->clock_mhz;
    memcpy(figure->slowed_by, gpu->slowed_by, sizeof figure->slowed_by);
    live_curve_add(&figure->utilization, seconds, gpu->utilization_percent);
    live_curve_add(&figure->ram, seconds, gpu->ram_bytes);
}

/* Sets the figures of all GPUs. Without memory they stay as they were. */
static void add_gpus(struct view_figures *figures, const struct gput_snapshot *snapshot)
{
    size_t count = gput_snapshot_gpu_count(snapshot);
    if (count > figures->gpu_capacity) {
        struct gpu_figure *gpus = realloc(figures->gpus, count * sizeof *gpus);
        if (!gpus)
            return;
        memset(gpus + figures->gpu_capacity, 0, (count - figures->gpu_capacity) * sizeof *gpus);
        figures->gpus = gpus;
        figures->gpu_capacity = count;
    }
    figures->n_gpus = count;
    for (size_t i = 0; i < count; i++) {
        add_gpu(&figures->gpus[i], gput_snapshot_gpu(snapshot, i), figures->elapsed_seconds);
        name_users(snapshot, i, count > 1, &figures->gpus[i]);
    }
}

/* The share of the tracked processes may be known later than the machine's power. */
static void find_share(struct view_figures *figures, const struct gput_snapshot *snapshot)
{
    if (figures->knows_share || isnan(gput_snapshot_watts(snapshot, GPUT_ENERGY_COMBINED)))
        return;
    figures->knows_share = true;
    figures->figures[FIGURE_POWER] = (struct figure){0};
}

/* Adds the figures of the machine, and its cores. */
static void add_machine(struct view_figures *figures, const struct machine *machine)
{
    for (int id = FIGURE_MAIN_COUNT; id < FIGURE_COUNT; id++) {
        struct figure *figure = &figures->figures[id];
        double value;
        memcpy(&value, (const char *)&machine->now + kinds[id].member, sizeof value);
        live_curve_add(&figure->curve, figures->elapsed_seconds, value);
        figure->peak = figure->curve.peak;
        figure->is_known |= !isnan(value);
        figure->full = kinds[id].quantity == QUANTITY_PERCENT ? 100 : NAN;
    }
    figures->figures[FIGURE_SWAP].full = machine->now.swap_capacity_bytes;
    double *cores = realloc(figures->cores, (machine->n_cores + 1) * sizeof *cores);
    if (!cores)
        return;
    if (machine->n_cores > 0)
        memcpy(cores, machine->core_percents, machine->n_cores * sizeof *cores);
    figures->cores = cores;
    figures->n_cores = machine->n_cores;
}

void view_figures_add(struct view_figures *figures, const struct gput_snapshot *snapshot,
    const struct gput_results *results, const struct machine *machine)
{
    double before = figures->elapsed_seconds;
    figures->elapsed_seconds = gput_snapshot_elapsed_seconds(snapshot);
    if (figures->is_held) /* the moment that is looked at stays, as long as it is kept */
        figures->back_seconds =
            fmin(figures->back_seconds + figures->elapsed_seconds - before, BACK_SECONDS);
    find_share(figures, snapshot);
    figures->processes = gput_snapshot_process_count(snapshot);
    if (results) {
        /* A curve is full where all of the machine is used, or all that limits leave of it. */
        double cores = gput_results_number(results, "static_data.system_core_count");
        double ram = gput_results_number(results, "static_data.ram_system_capacity_bytes");
        if (!figures->is_machine) {
            cores = lower(gput_results_number(results, "allowed.cores"), cores);
            ram = lower(gput_results_number(results, "allowed.ram_bytes"), ram);
        }
        figures->figures[FIGURE_CPU].full = 100 * cores;
        figures->figures[FIGURE_RAM].full = ram;
        figures->figures[FIGURE_GPU].full =
            100 * gput_results_number(results, "static_data.n_expected_gpus");
        figures->figures[FIGURE_GPU_RAM].full =
            gput_results_number(results, "static_data.gpu_ram_system_capacity_bytes");
        figures->joules = gput_results_energy(results, energy_of(figures));
    }
    for (int id = 0; id < FIGURE_MAIN_COUNT; id++)
        add_figure(figures, (enum figure_id)id, snapshot, results);
    if (machine)
        add_machine(figures, machine);
    add_gpus(figures, snapshot);
}

void figure_note(const struct view_figures *figures, enum figure_id id, char *text, size_t size)
{
    char amount[QUANTITY_SIZE];
    double full = figures->figures[id].full;
    bool is_now = !(figures->back_seconds > 0);
    text[0] = '\0';
    if (id == FIGURE_CPU && full > 0)
        snprintf(text, size, "of %g cores", full / 100);
    else if (id == FIGURE_GPU && full > 100)
        snprintf(text, size, "of %g GPUs", full / 100);
    else if (figure_quantity(id) == QUANTITY_BYTES && full > 0)
        snprintf(text, size, "of %s", quantity_text(QUANTITY_BYTES, full, amount));
    else if (id == FIGURE_POWER && is_now && isfinite(figures->joules))
        snprintf(text, size, "%s so far", quantity_text(QUANTITY_JOULES, figures->joules, amount));
    else if (id == FIGURE_THREADS && is_now)
        snprintf(
            text, size, "%zu process%s", figures->processes, figures->processes == 1 ? "" : "es");
}

/* Where there is one GPU, it has a row of its own that says more. */
bool figure_is_shown(const struct view_figures *figures, enum figure_id id)
{
    if (id == FIGURE_SWAPPED)
        return !figures->is_machine && figures->figures[id].curve.peak > 0;
    if (id == FIGURE_SWAP)
        return figures->figures[id].full > 0;
    bool is_of_gpus = id == FIGURE_GPU || id == FIGURE_GPU_RAM;
    if (id == FIGURE_CPU || id == FIGURE_RAM)
        return true;
    return figures->figures[id].is_known && (!is_of_gpus || figures->n_gpus > 0) &&
           (id != FIGURE_GPU || figures->n_gpus > 1);
}
