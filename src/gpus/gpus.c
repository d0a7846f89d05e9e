/*
 * One reading of all GPUs: every process of this procfs counts as tracked, so that drivers which
 * list only those that they are asked for list all.
 */

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/human.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/table.h"
#include "base/text.h"
#include "machine/gpu/gpu.h"
#include "machine/os/passwd.h"
#include "machine/os/proc_stat.h"
#include "machine/os/proc_status.h"
#include "machine/os/procfs.h"
#include "model/session_options.h"
#include "views/output/text_grid.h"

#include <gputracker/gpus.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A process on a GPU. */
struct gpus_process {
    uint32_t gpu; /* index of the GPU */
    pid_t pid;
    char user[64]; /* "": not known */
    char *command; /* owned; NULL: not known */
    double ram_bytes, sm_percent;
};

struct gput_gpus {
    char *procfs_root; /* owned */
    struct gpu_set *set;
    bool with_parts; /* gpu_parts: figures of parts of the chip, too; from the second reading on */
    struct gpu_sample sample;
    char missing[700];   /* why there is no GPU */
    double time_seconds; /* of it, since the epoch */
    struct passwd_users users;
    struct gpus_process *processes; /* owned; ascending by GPU and pid */
    size_t n_processes;
};

/* How long to wait for a slow driver. What it answered meanwhile (a list may hang alone) is not too
 * old then. */
#define TIMEOUT_SECONDS 5.0
#define MAX_AGE_SECONDS (TIMEOUT_SECONDS + 3)
/* Timeout of figures of parts of the chip, after the others have come: they must be of the same
 * moment. */
#define PARTS_TIMEOUT_SECONDS 2.0
/* Between two samples of parts of the chip. */
#define PARTS_INTERVAL_NS 250000000
/* Longer command lines are cut. */
#define MAX_COMMAND_BYTES 4096

/* Lists all processes, sorted. Without procfs the list stays empty: some drivers list processes
 * themselves. */
static int list_pids(const char *procfs_root, struct pid_vector *pids, struct gput_error *error)
{
    CLEANUP_FD int folder = open(procfs_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return GPUT_OK; /* then drivers that list processes themselves do */
    TRY(procfs_list_fd(folder, pids) == GPUT_ERROR_MEMORY ? error_memory(error) : GPUT_OK);
    if (pids->count > 1)
        qsort(pids->pids, pids->count, sizeof *pids->pids, pid_compare);
    return GPUT_OK;
}

/* Its command line, else its name in brackets, as ps shows it; NULL without either. */
static char *read_command(const char *procfs_root, pid_t pid)
{
    CLEANUP_STR struct str text = {0};
    struct proc_stat stat;
    if (procfs_read_bounded(NULL, procfs_root, pid, "cmdline", &text, NULL) == GPUT_OK) {
        size_t length = text.length < MAX_COMMAND_BYTES ? text.length : MAX_COMMAND_BYTES;
        while (length > 0 && text.data[length - 1] == '\0')
            length--;
        for (size_t i = 0; i < length; i++)
            if (text.data[i] == '\0')
                text.data[i] = ' ';
        if (length > 0)
            return strndup(text.data, length);
    }
    if (proc_stat_read(procfs_root, pid, &stat, NULL) != GPUT_OK)
        return NULL;
    str_clear(&text);
    str_printf(&text, "[%.*s]", (int)sizeof stat.name, stat.name);
    return text.failed ? NULL : strdup(str_text(&text));
}

/* Frees the processes of the previous reading. */
static void forget_processes(struct gput_gpus *gpus)
{
    for (size_t i = 0; i < gpus->n_processes; i++)
        free(gpus->processes[i].command);
    free(gpus->processes);
    gpus->processes = NULL;
    gpus->n_processes = 0;
}

/* Copies the processes that the drivers list, with their users and commands. */
static int take_processes(struct gput_gpus *gpus, struct gput_error *error)
{
    size_t count;
    const struct gpu_use *uses = gpu_set_uses(gpus->set, &count);
    struct gpus_process *processes = calloc(count + 1, sizeof *processes);
    if (!processes)
        return error_memory(error);
    forget_processes(gpus);
    gpus->processes = processes;
    passwd_users_update(&gpus->users, passwd_path);
    for (size_t i = 0; i < count; i++) {
        if (uses[i].device >= gpus->sample.n_devices)
            continue;
        struct gpus_process *process = &processes[gpus->n_processes++];
        *process = (struct gpus_process){.gpu = uses[i].device,
            .pid = uses[i].pid,
            .ram_bytes = uses[i].ram_bytes,
            .sm_percent = uses[i].sm_percent};
        struct proc_status status;
        process->command = read_command(gpus->procfs_root, process->pid);
        if (proc_status_read(gpus->procfs_root, process->pid, &status, NULL) == GPUT_OK)
            passwd_users_name(&gpus->users, status.uid, process->user, sizeof process->user);
    }
    return GPUT_OK;
}

int gput_gpus_update(struct gput_gpus *gpus, struct gput_error *error)
{
    struct pid_vector pids = {0};
    struct timespec now;
    int code = list_pids(gpus->procfs_root, &pids, error);
    if (code == GPUT_OK) {
        const struct gpu_tree tree = {.main = 0,
            .descendants = pids.pids,
            .n_descendants = pids.count,
            .generation = (uint64_t)clock_monotonic_ns()};
        gpu_set_request_lists(gpus->set, &tree, true);
        gpu_set_await_all(gpus->set, gpus->with_parts ? PARTS_TIMEOUT_SECONDS : TIMEOUT_SECONDS);
        gpu_set_sample(gpus->set, &tree, &gpus->sample);
        /* "No GPU was found: nvml: no NVIDIA driver; …": each source that was asked. Where there is
         * a GPU, those that have nothing to do with it are left out. */
        size_t count;
        const struct gpu_source_status *sources = gpu_set_sources(gpus->set, &count);
        text_fit(gpus->missing, sizeof gpus->missing, "%s",
            gpu_set_is_empty(gpus->set) ? "No GPU was found" : "No GPU can be read");
        for (size_t i = 0; i < count; i++) {
            size_t length = strlen(gpus->missing);
            if (sources[i].state != GPU_SOURCE_SKIPPED &&
                (gpu_set_is_empty(gpus->set) || sources[i].state != GPU_SOURCE_ABSENT))
                text_fit(gpus->missing + length, sizeof gpus->missing - length, "%s%s: %s",
                    strchr(gpus->missing, ':') ? "; " : ": ", sources[i].name, sources[i].detail);
        }
        clock_gettime(CLOCK_REALTIME, &now);
        gpus->time_seconds = (double)now.tv_sec + (double)(now.tv_nsec / 1000) * 1e-6;
        code = take_processes(gpus, error);
    }
    pid_vector_finish(&pids);
    return code;
}

CLEANUP_DEFINE(struct gput_gpus, gput_gpus_destroy)

int gput_gpus_create(
    const struct gput_session_options *given, struct gput_gpus **gpus, struct gput_error *error)
{
    struct gput_session_options options;
    struct gput_limits limits;
    *gpus = NULL;
    TRY(session_options_read(given, &options, &limits, error));
    CLEANUP(gput_gpus_destroy_pointer) struct gput_gpus *made = calloc(1, sizeof *made);
    if (made)
        made->procfs_root = strdup(options.procfs_root ? options.procfs_root : "/proc");
    if (!made || !made->procfs_root)
        return error_memory(error);
    const struct gpu_options gpu_options = {
        .procfs_root = options.procfs_root,
        .sysfs_root = options.sysfs_root,
        .nvml_path = options.nvml_path,
        .brand = options.gpu_brand,
        .uuids = options.gpu_uuids,
        .max_age_seconds = MAX_AGE_SECONDS,
        .each_process = true,
        .parts = options.gpu_parts,
    };
    TRY(gpu_set_open(&gpu_options, &made->set, error));
    TRY(gput_gpus_update(made, error));
    made->with_parts = options.gpu_parts;
    if (options.gpu_parts) {
        const struct timespec pause = {0, PARTS_INTERVAL_NS};
        TRY(gput_gpus_update(made, error));
        nanosleep(&pause, NULL);
        TRY(gput_gpus_update(made, error));
    }
    *gpus = STEAL(made);
    return GPUT_OK;
}

void gput_gpus_destroy(struct gput_gpus *gpus)
{
    if (!gpus)
        return;
    forget_processes(gpus);
    gpu_set_close(gpus->set);
    passwd_users_finish(&gpus->users);
    free(gpus->procfs_root);
    free(gpus);
}

const char *gput_gpus_missing(const struct gput_gpus *gpus, bool *is_failure)
{
    const char *why = gpu_set_missing(gpus->set);
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(gpus->set, &count);
    bool is_unread = why && !gpu_set_is_empty(gpus->set);
    for (size_t i = 0; i < count; i++)
        is_unread |= devices[i].selected && gpu_set_is_unread(gpus->set, i);
    if (is_failure)
        *is_failure = is_unread;
    return why ? gpus->missing : NULL;
}

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

/* Says which figures a GPU does not report, with reasons: of use, then of the card. */
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

int gput_gpus_tables(
    const struct gput_gpus *gpus, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    add_gpus(building, gpus);
    struct gput_table *table = tables_add(building, "processes");
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
    /* Say why a card is slowed and what is wrong with it, if anything is. */
    const struct card_reading *card = gpu_set_card(gpus->set, index);
    char trouble[CARD_REASONS_SIZE];
    for (int i = 0; card_trouble(card, i, trouble, sizeof trouble); i++)
        if (trouble[0])
            str_printf(text, "  %s\n", trouble);
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
        str_printf(text, "%s\nWhat each source needs: gpu-tracker doctor\n", why);
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
