/* What the card says of itself: each figure of `gpu-tracker gpus` next to the driver's answer
 * before and after, with what each call costs. */
#include "check_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COST_CALLS = 200 };

/* A figure is one call, or a field of nvmlDeviceGetFieldValues(). `slack` is by how much it may
 * change between two readings: 0 for what stays as it is. Counters only go up. */
static const struct card_call {
    const char *figure;   /* the name of gpu-tracker */
    const char *function; /* NULL: a field */
    int type;             /* its second argument; -1: none. Of a field its number */
    unsigned scope;
    double factor, slack;
} calls[] = {
    {"graphics_clock_mhz", "nvmlDeviceGetClockInfo", 0, 0, 1, 600},
    {"memory_clock_mhz", "nvmlDeviceGetClockInfo", 2, 0, 1, 600},
    {"max_graphics_clock_mhz", "nvmlDeviceGetMaxClockInfo", 0, 0, 1, 0},
    {"max_memory_clock_mhz", "nvmlDeviceGetMaxClockInfo", 2, 0, 1, 0},
    {"temperature_celsius", "nvmlDeviceGetTemperature", 0, 0, 1, 5},
    {"slowdown_temperature_celsius", "nvmlDeviceGetTemperatureThreshold", 1, 0, 1, 0},
    {"shutdown_temperature_celsius", "nvmlDeviceGetTemperatureThreshold", 0, 0, 1, 0},
    {"performance_state", "nvmlDeviceGetPerformanceState", -1, 0, 1, 2},
    {"power_limit_watts", "nvmlDeviceGetEnforcedPowerLimit", -1, 0, 1e-3, 0.5},
    {"fan_percent", "nvmlDeviceGetFanSpeed", -1, 0, 1, 10},
    {"pcie_generation", "nvmlDeviceGetCurrPcieLinkGeneration", -1, 0, 1, 4},
    {"pcie_width", "nvmlDeviceGetCurrPcieLinkWidth", -1, 0, 1, 0},
    {"max_pcie_generation", "nvmlDeviceGetMaxPcieLinkGeneration", -1, 0, 1, 0},
    {"max_pcie_width", "nvmlDeviceGetMaxPcieLinkWidth", -1, 0, 1, 0},
    {"power_cap_seconds", NULL, 74, 0, 1e-9, 2},
    {"sync_boost_seconds", NULL, 76, 0, 1e-9, 2},
    {"memory_temperature_celsius", NULL, 82, 0, 1, 5},
    {"pcie_replays", NULL, 94, 0, 1, 100},
    {"pcie_transmitted_bytes", NULL, 197, 0, 1, 1e10},
    {"pcie_received_bytes", NULL, 198, 0, 1, 1e10},
    {"nvlink_transmitted_bytes", NULL, 138, ~0u, 1024, 1e10},
    {"nvlink_received_bytes", NULL, 139, ~0u, 1024, 1e10},
    {"ecc_corrected_errors", NULL, 3, 0, 1, 10},
    {"ecc_uncorrected_errors", NULL, 4, 0, 1, 0},
    {"remapping_pending", NULL, 144, 0, 1, 0},
    {"remapping_failed", NULL, 145, 0, 1, 0},
};
enum { CALLS = sizeof calls / sizeof *calls };

/* Parts of the chip, by NVML's numbers. Both readings are means of a quarter of a second of the
 * same load, one after the other. */
static const struct card_part {
    const char *figure;
    unsigned metric;
    double factor, slack;
} parts[] = {
    {"sm_active_percent", 2, 1, 3},
    {"sm_occupancy_percent", 3, 1, 3},
    {"tensor_active_percent", 5, 1, 3},
    {"dram_bandwidth_percent", 10, 1, 3},
    {"fp64_active_percent", 11, 1, 3},
    {"fp32_active_percent", 12, 1, 3},
    {"fp16_active_percent", 13, 1, 3},
    {"pcie_transmit_bytes_per_second", 20, 1048576, 1e8},
    {"pcie_receive_bytes_per_second", 21, 1048576, 1e8},
    {"nvlink_receive_bytes_per_second", 60, 1048576, 1e8},
    {"nvlink_transmit_bytes_per_second", 61, 1048576, 1e8},
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Numbers of the counters of thermal slowdowns: which of them this driver has is what is to be
 * learnt. */
static const int thermal_fields[] = {251, 252, 253, 269, 270, 271};

static double read_call(struct check *check, const struct card_call *call)
{
    double value = call->function
                       ? nvml_reference_number(&check->nvml, call->function, call->type)
                       : nvml_reference_field(&check->nvml, (unsigned)call->type, call->scope);
    return value * call->factor;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void note_cost(struct check *check, const struct card_call *call)
{
    double costs_us[COST_CALLS];
    char figure[128];
    for (int i = 0; i < COST_CALLS; i++) {
        uint64_t start_ns = monotonic_now_ns();
        read_call(check, call);
        costs_us[i] = (double)(monotonic_now_ns() - start_ns) / 1e3;
        check_progress(check);
    }
    qsort(costs_us, COST_CALLS, sizeof *costs_us, compare_doubles);
    snprintf(figure, sizeof figure, "%s: median of a call", call->figure);
    check_table_note(&check->table, figure, "us", costs_us[COST_CALLS / 2]);
    snprintf(figure, sizeof figure, "%s: 99 of 100 below", call->figure);
    check_table_note(&check->table, figure, "us", costs_us[COST_CALLS * 99 / 100]);
}

/* The row of the GPU that is checked, as `gpu-tracker gpus` writes it; NULL: there is none. The
 * caller's. */
static json_t *read_row(struct check *check)
{
    struct check_path path = check_path(check, "gpus.json");
    const char *command[] = {check->tracker, "gpus", "--gpu-parts", "--table", "gpus", "-f", "json",
        "-o", path.text, NULL};
    unlink(path.text);
    int status = check_execute(check, command, 5);
    json_t *rows = json_load_file(path.text, 0, NULL), *row, *found = NULL;
    size_t index;
    check_table_state(&check->table, "gpus lists the GPUs", status == 0 && rows, "exit status 0");
    json_array_foreach(rows, index, row)
    {
        const char *uuid = json_string_value(json_object_get(row, "uuid"));
        if (uuid && strcmp(uuid, check->nvml.uuid) == 0)
            found = json_incref(row);
    }
    json_decref(rows);
    return found;
}

static void compare(struct check *check, const json_t *row, const struct card_call *call,
    double before, double after)
{
    const json_t *ours = json_object_get(row, call->figure);
    double value = json_is_number(ours) ? json_number_value(ours) : NAN;
    double middle = (before + after) / 2;
    if (isnan(value) && isnan(before)) {
        check_table_skip(&check->table, call->figure, "neither gpu-tracker nor the driver has it");
        return;
    }
    check_table_compare(&check->table, (struct check_figure){.figure = call->figure,
                                           .unit = "",
                                           .truth = NAN,
                                           .ours = value,
                                           .reference = middle,
                                           .tolerance = call->slack + fabs(after - before)});
}

/* Parts of the chip next to the driver's counters, read before and after. */
static void compare_parts(
    struct check *check, const json_t *row, const double *before, const double *after)
{
    for (int i = 0; i < PARTS; i++) {
        const struct card_call call = {.figure = parts[i].figure, .slack = parts[i].slack};
        compare(check, row, &call, before[i] * parts[i].factor, after[i] * parts[i].factor);
    }
}

/* The counters of thermal slowdowns under both of their numbers, as they are. */
static void note_thermal_fields(struct check *check)
{
    char figure[64];
    for (size_t i = 0; i < sizeof thermal_fields / sizeof *thermal_fields; i++) {
        double before = nvml_reference_field(&check->nvml, (unsigned)thermal_fields[i], 0);
        snprintf(figure, sizeof figure, "field %d", thermal_fields[i]);
        check_table_note(&check->table, figure, "as it is", before);
    }
}

static void keep_nvidia_smi(struct check *check)
{
    const char *command[] = {"nvidia-smi",
        "--query-gpu=uuid,clocks.gr,clocks.mem,clocks.max.gr,clocks.max.mem,pstate,temperature.gpu,"
        "temperature.memory,enforced.power.limit,fan.speed,pcie.link.gen.current,"
        "pcie.link.width.current,pcie.link.gen.max,pcie.link.width.max,clocks_event_reasons.active,"
        "clocks_event_reasons_counters.sw_power_cap,clocks_event_reasons_counters.sync_boost,"
        "clocks_event_reasons_counters.sw_thermal_slowdown,"
        "clocks_event_reasons_counters.hw_thermal_slowdown,"
        "clocks_event_reasons_counters.hw_power_brake_slowdown",
        "--format=csv", NULL};
    if (check_execute(check, command, 10) == 0)
        check_table_state(&check->table, "nvidia-smi's line is in log.txt", true, "not compared");
    else
        check_table_skip(
            &check->table, "nvidia-smi's line", "there is none, or it does not know these figures");
}

void trial_card(struct check *check)
{
    static const char steps[] = "context busy 100 600000";
    double before[CALLS], after[CALLS], parts_before[PARTS], parts_after[PARTS];
    unsigned metrics[PARTS];
    pid_t load = -1;
    check_table_begin(&check->table, "The card: clocks, temperatures, links, health");
    if (check->has_context) {
        load = check_start_load(check, steps);
        check_await_steps(check, load, "context", 1);
    }
    keep_nvidia_smi(check);
    for (int i = 0; i < PARTS; i++)
        metrics[i] = parts[i].metric;
    nvml_reference_parts(&check->nvml, metrics, PARTS, parts_before);
    for (int i = 0; i < CALLS; i++)
        before[i] = read_call(check, &calls[i]);
    json_t *row = read_row(check);
    for (int i = 0; i < CALLS; i++)
        after[i] = read_call(check, &calls[i]);
    nvml_reference_parts(&check->nvml, metrics, PARTS, parts_after);
    for (int i = 0; row && i < CALLS; i++)
        compare(check, row, &calls[i], before[i], after[i]);
    if (row)
        compare_parts(check, row, parts_before, parts_after);
    json_decref(row);
    note_thermal_fields(check);
    for (int i = 0; i < CALLS; i++)
        if (!isnan(before[i]))
            note_cost(check, &calls[i]);
    if (load >= 0) {
        programs_end(&check->programs, load);
        check_await_rest(check);
    }
}
