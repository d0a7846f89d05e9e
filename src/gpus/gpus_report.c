/*
 * What was read of the GPUs, as tables, JSON and text.
 */
#include "gpus/gpus_state.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/table.h"
#include "base/text.h"
#include "views/output/text_grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MISSING_SIZE 2048

/* ---- Tables ---- */

static void put_text(struct gput_table *table, const char *text)
{
    table_put_text(table, text && text[0] ? text : NULL);
}

/* Whether a figure has a column: parts of the chip have one where they were asked for. */
static bool has_column(const struct gput_gpus *gpus, int figure)
{
    return gpus->with_parts || card_figures[figure].kind != CARD_PART;
}

static void add_number(struct gput_table *table, const char *name, const char *unit)
{
    table_add_column(table, name, GPUT_COLUMN_DOUBLE);
    if (unit)
        table_set_unit(table, unit);
}

/* Where the driver has no sample of a busy GPU, 0 is not what a process uses of it. */
static double sm_percent_of(const struct gput_gpus *gpus, const struct gpus_process *process)
{
    const struct gpu_device_sample *device = &gpus->sample.devices[process->gpu];
    bool is_unknown = device->lacks_samples && !(device->utilization_percent == 0);
    return is_unknown && process->sm_percent == 0 ? NAN : process->sm_percent;
}

static size_t count_processes(const struct gput_gpus *gpus, uint32_t gpu)
{
    size_t count = 0;
    for (size_t i = 0; i < gpus->n_processes; i++)
        count += gpus->processes[i].gpu == gpu;
    return count;
}

/* What a GPU does not report, with reasons: figures of use, then of the card. */
static void explain(
    const struct gput_gpus *gpus, const struct gpu_device *device, size_t index, char *text)
{
    char card[MISSING_SIZE];
    gpu_device_explain(device, GPU_FIGURE_COUNT, text, MISSING_SIZE);
    card_explain(gpu_set_card(gpus->set, index), gpus->with_parts, card, sizeof card);
    size_t length = strlen(text);
    if (card[0])
        text_fit(text + length, MISSING_SIZE - length, "%s%s", length ? "; " : "", card);
}

/* Adds the table of GPUs, one row each. */
static void add_gpus(struct gput_tables *tables, const struct gput_gpus *gpus)
{
    struct gput_table *table = tables_add(tables, "gpus");
    char text[CARD_REASONS_SIZE], missing[MISSING_SIZE];
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(gpus->set, &count);
    add_number(table, "time", "seconds since the epoch");
    table_add_column(table, "gpu", GPUT_COLUMN_INT);
    table_add_columns_of(
        table, GPUT_COLUMN_TEXT, "uuid", "name", "vendor", "pci_address", "source", NULL);
    table_add_column(table, "n_processes", GPUT_COLUMN_INT);
    add_number(table, "ram_used_bytes", NULL);
    add_number(table, "ram_capacity_bytes", NULL);
    add_number(table, "utilization_percent", NULL);
    add_number(table, "power_watts", NULL);
    for (int i = 0; i < CARD_FIGURE_COUNT; i++) {
        const struct card_figure_info *figure = &card_figures[i];
        if (!has_column(gpus, i))
            continue;
        table_add_column(table, figure->name,
            card_figure_is_text((enum card_figure)i) ? GPUT_COLUMN_TEXT : GPUT_COLUMN_DOUBLE);
        if (figure->unit)
            table_set_unit(table, figure->unit);
    }
    table_add_column(table, "missing", GPUT_COLUMN_TEXT);

    for (uint32_t i = 0; i < gpus->sample.n_devices && i < count; i++) {
        const struct gpu_device_sample *sample = &gpus->sample.devices[i];
        const struct card_reading *card = gpu_set_card(gpus->set, i);
        if (!devices[i].selected)
            continue;
        table_put_double(table, gpus->time_seconds);
        table_put_int(table, i);
        put_text(table, devices[i].uuid);
        put_text(table, devices[i].name);
        put_text(table, gpu_vendor_name(devices[i].vendor));
        put_text(table, devices[i].pci_address);
        put_text(table, devices[i].source);
        size_t n_processes = count_processes(gpus, i) + sample->n_unattributed;
        if (devices[i].missing[GPU_PROCESS_RAM][0] && !n_processes)
            table_put_missing(table);
        else
            table_put_int(table, (int64_t)n_processes);
        table_put_double(table, sample->ram_used_bytes);
        table_put_double(table, devices[i].ram_capacity_bytes);
        table_put_double(table, sample->utilization_percent);
        table_put_double(table, sample->power_watts);
        for (int j = 0; j < CARD_FIGURE_COUNT; j++) {
            enum card_figure figure = (enum card_figure)j;
            if (!has_column(gpus, j))
                continue;
            if (card_figure_is_text(figure))
                put_text(table, card_value_text(figure, card->values[j], text));
            else
                table_put_double(table, card->values[j]);
        }
        explain(gpus, &devices[i], i, missing);
        put_text(table, missing);
    }
}

/* Adds the table of processes on GPUs, one row each. */
static void add_processes(struct gput_tables *tables, const struct gput_gpus *gpus)
{
    struct gput_table *table = tables_add(tables, "processes");
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(gpus->set, &count);
    add_number(table, "time", "seconds since the epoch");
    table_add_column(table, "gpu", GPUT_COLUMN_INT);
    table_add_column(table, "uuid", GPUT_COLUMN_TEXT);
    table_add_column(table, "pid", GPUT_COLUMN_INT);
    table_add_column(table, "user", GPUT_COLUMN_TEXT);
    add_number(table, "ram_bytes", NULL);
    add_number(table, "sm_percent", NULL);
    table_add_column(table, "command", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < gpus->n_processes; i++) {
        const struct gpus_process *process = &gpus->processes[i];
        if (!devices[process->gpu].selected)
            continue;
        table_put_double(table, gpus->time_seconds);
        table_put_int(table, process->gpu);
        put_text(table, devices[process->gpu].uuid);
        table_put_int(table, process->pid);
        put_text(table, process->user);
        table_put_double(table, process->ram_bytes);
        table_put_double(table, sm_percent_of(gpus, process));
        put_text(table, process->command);
    }
}

int gput_gpus_tables(
    const struct gput_gpus *gpus, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    add_gpus(building, gpus);
    add_processes(building, gpus);
    return tables_finish_building(building, tables, error);
}

/* ---- Text ---- */

/* Appends a part of a line, after a separator where it is not the first. */
static void add_part(struct str *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends a part to a line, after a separator. */
static void add_part(struct str *line, const char *format, ...)
{
    va_list arguments;
    str_append(line, line->length ? " · " : "");
    va_start(arguments, format);
    str_print_list(line, format, arguments);
    va_end(arguments);
}

/* "412 of 700 W": a figure and its limit, where that is known. */
static void add_of_limit(struct str *line, double value, double limit, const char *unit)
{
    if (isnan(value))
        return;
    if (isnan(limit))
        add_part(line, "%.0f %s", value, unit);
    else
        add_part(line, "%.0f of %.0f %s", value, limit, unit);
}

/* Appends the PCIe link, with its maximum where it is slower or narrower. */
static void add_link(struct str *line, const double *values)
{
    double generation = values[CARD_PCIE_GENERATION], width = values[CARD_PCIE_WIDTH];
    double most = values[CARD_MAX_PCIE_GENERATION], widest = values[CARD_MAX_PCIE_WIDTH];
    if (isnan(generation) || isnan(width))
        return;
    add_part(line, "PCIe %.0f x%.0f", generation, width);
    if (generation < most || width < widest)
        str_printf(line, " (of %.0f x%.0f)", most, widest);
}

/* How busy parts of the chip are, where that was asked for; else why that is not known. */
static void write_parts(const struct card_reading *card, double busy_percent, struct str *text)
{
    char parts[CARD_REASONS_SIZE];
    card_describe_parts(card->values, busy_percent, parts, sizeof parts);
    if (parts[0])
        str_printf(text, "  parts: %s\n", parts);
    else if (card->missing[CARD_SM_ACTIVE])
        str_printf(text, "  parts: n/a (%s)\n", card->missing[CARD_SM_ACTIVE]);
}

/* What a card is slowed by, and what is wrong with it: nothing where nothing is. */
static void write_troubles(const struct card_reading *card, struct str *text)
{
    char trouble[CARD_REASONS_SIZE];
    for (int i = 0; card_trouble(card, i, trouble, sizeof trouble); i++)
        if (trouble[0])
            str_printf(text, "  %s\n", trouble);
}

/* Writes the lines of a GPU. */
static void write_gpu(
    const struct gput_gpus *gpus, const struct gpu_device *device, uint32_t index, struct str *text)
{
    CLEANUP_STR struct str line = {0};
    char used[HUMAN_SIZE], whole[HUMAN_SIZE];
    const struct gpu_device_sample *sample = &gpus->sample.devices[index];
    const double *values = gpu_set_card(gpus->set, index)->values;
    str_printf(text, "GPU %u  %s", index, device->name);
    if (device->pci_address[0])
        str_printf(text, "  %s", device->pci_address);
    str_append_char(text, '\n');
    if (!isnan(sample->ram_used_bytes))
        add_part(&line, "RAM %s of %s", human_bytes(sample->ram_used_bytes, used),
            human_bytes(device->ram_capacity_bytes, whole));
    else if (device->missing[GPU_RAM_USED][0])
        add_part(&line, "RAM n/a (%s)", device->missing[GPU_RAM_USED]);
    if (!isnan(sample->utilization_percent))
        add_part(&line, "busy %.0f %%", sample->utilization_percent);
    add_of_limit(&line, sample->power_watts, values[CARD_POWER_LIMIT], "W");
    if (!isnan(values[CARD_TEMPERATURE]))
        add_part(&line, "%.0f °C", values[CARD_TEMPERATURE]);
    add_of_limit(&line, values[CARD_GRAPHICS_CLOCK], values[CARD_MAX_GRAPHICS_CLOCK], "MHz");
    if (!isnan(values[CARD_PERFORMANCE_STATE]))
        add_part(&line, "P%.0f", values[CARD_PERFORMANCE_STATE]);
    add_link(&line, values);
    str_printf(text, "  %s\n", line.length ? str_text(&line) : "no figures");
    text->failed |= line.failed;
    if (gpus->with_parts)
        write_parts(gpu_set_card(gpus->set, index), sample->utilization_percent, text);
    write_troubles(gpu_set_card(gpus->set, index), text);
}

/* Puts a command line on one line: its own lines could be taken for rows. */
static void put_command(struct text_grid *grid, const char *command)
{
    CLEANUP_STR struct str line = {0};
    str_append(&line, command ? command : "n/a");
    for (size_t i = 0; i < line.length; i++)
        if (strchr("\n\r\t", line.data[i]))
            line.data[i] = ' ';
    text_grid_put(grid, line.failed ? "n/a" : str_text(&line));
}

/* Writes the table of a GPU's processes. */
static void write_processes(
    const struct gput_gpus *gpus, const struct gpu_device *device, uint32_t index, struct str *text)
{
    CLEANUP(text_grid_finish) struct text_grid grid = {.gap = 2, .margin = 2};
    char cell[32], ram[HUMAN_SIZE];
    static const char *const heads[] = {"PID", "USER", "RAM", "BUSY", "COMMAND"};
    size_t count = count_processes(gpus, index);
    const struct gpu_device_sample *sample = &gpus->sample.devices[index];
    for (int i = 0; i < 5; i++)
        text_grid_add_column(&grid, (struct text_grid_column){.is_left = i == 1 || i == 4});
    for (int i = 0; i < 5 && count; i++)
        text_grid_put(&grid, heads[i]);
    for (size_t i = 0; i < gpus->n_processes; i++) {
        const struct gpus_process *process = &gpus->processes[i];
        if (process->gpu != index)
            continue;
        double percent = sm_percent_of(gpus, process);
        snprintf(cell, sizeof cell, "%d", (int)process->pid);
        text_grid_put(&grid, cell);
        text_grid_put(&grid, process->user[0] ? process->user : "n/a");
        text_grid_put(&grid, human_bytes(process->ram_bytes, ram));
        if (isnan(percent))
            snprintf(cell, sizeof cell, "n/a");
        else
            snprintf(cell, sizeof cell, "%.0f %%", percent);
        text_grid_put(&grid, cell);
        put_command(&grid, process->command);
    }
    if (count)
        text_grid_write(&grid, text);
    if (sample->n_unattributed)
        str_printf(
            text, "  and %u of no visible process (another container's)\n", sample->n_unattributed);
    else if (!count && device->missing[GPU_PROCESS_RAM][0])
        str_printf(text, "  processes: n/a (%s)\n", device->missing[GPU_PROCESS_RAM]);
    else if (!count)
        str_append(text, "  no process\n");
}

/* Writes all GPUs for people. */
static void write_text(const struct gput_gpus *gpus, struct str *text)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(gpus->set, &count);
    const char *why = gput_gpus_missing(gpus, NULL);
    if (why)
        str_printf(text, "%s\n", why);
    for (uint32_t i = 0; i < gpus->sample.n_devices && i < count; i++) {
        if (!devices[i].selected)
            continue;
        if (text->length)
            str_append_char(text, '\n');
        write_gpu(gpus, &devices[i], i, text);
        write_processes(gpus, &devices[i], i, text);
    }
}

int gput_gpus_render(const struct gput_gpus *gpus, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    *bytes = NULL;
    if (format == GPUT_FORMAT_TEXT) {
        CLEANUP_STR struct str text = {0};
        write_text(gpus, &text);
        screen_sanitize(&text, 0);
        return str_steal_bytes(&text, bytes, length, error);
    }
    struct gput_tables *tables;
    if (format != GPUT_FORMAT_JSON)
        return error_set(
            error, GPUT_ERROR_INVALID, "The GPUs are written as text or JSON, or as tables.");
    TRY(gput_gpus_tables(gpus, &tables, error));
    int code = gput_tables_render(tables, format, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}
