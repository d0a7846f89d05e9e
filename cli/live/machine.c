#include "machine.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE_BYTES (4 << 20)
#define SECTOR_BYTES 512
/* A counter of which the file could not be read. */
#define UNREAD UINT64_MAX

void machine_finish(struct machine *machine)
{
    free(machine->core_percents);
    free(machine->core_ticks);
    *machine = (struct machine){.procfs = machine->procfs};
}

/* Moves to the next line; false after the last one. */
static bool next_line(const char **line)
{
    *line += strcspn(*line, "\n");
    *line += **line == '\n';
    return **line != '\0';
}

static bool begins_with_one_of(const char *text, const char *const *beginnings)
{
    for (; *beginnings; beginnings++)
        if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
            return true;
    return false;
}

uint64_t machine_parse_disks(const char *text)
{
    static const char *const made_of_others[] = {"loop", "ram", "zram", "dm-", "md", NULL};
    char disk[64] = "", name[64];
    uint64_t sum = 0, read, written;
    const char *line = text;
    do {
        if (sscanf(line, "%*u %*u %63s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, name, &read,
                &written) != 3 ||
            begins_with_one_of(name, made_of_others))
            continue;
        /* Partitions follow their disk. */
        if (disk[0] && strncmp(name, disk, strlen(disk)) == 0)
            continue;
        memcpy(disk, name, sizeof disk);
        sum += (read + written) * SECTOR_BYTES;
    } while (next_line(&line));
    return sum;
}

uint64_t machine_parse_network(const char *text)
{
    static const char *const inside[] = {"lo:", "veth", "docker", "br-", "virbr", "cni", "flannel",
        "bond", "team", "tun", "wg", NULL};
    uint64_t sum = 0, received, sent;
    const char *line = text;
    do {
        const char *name = line + strspn(line, " "), *colon = strpbrk(name, ":\n");
        if (colon && *colon == ':' && !begins_with_one_of(name, inside) &&
            sscanf(colon + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &received,
                &sent) == 2)
            sum += received + sent;
    } while (next_line(&line));
    return sum;
}

double machine_parse_pressure(const char *text)
{
    double percent;
    return sscanf(text, "some avg10=%lf", &percent) == 1 ? percent : NAN;
}

/* Reads a file of procfs; "" where it is not there. The text belongs to `text`. */
static const char *read_file(const struct machine *machine, const char *name, struct str *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", machine->procfs, name);
    str_restart(text);
    return file_read_bounded(path, MAX_FILE_BYTES, text, NULL) == GPUT_OK ? str_text(text) : "";
}

/* Makes space for one more core. False without memory. */
static bool reserve_core(struct machine *machine)
{
    if (machine->n_cores < machine->capacity)
        return true;
    size_t capacity = machine->capacity * 2 + 16;
    double *percents = realloc(machine->core_percents, capacity * sizeof *percents);
    machine->core_percents = percents ? percents : machine->core_percents;
    struct core_ticks *ticks = realloc(machine->core_ticks, capacity * sizeof *ticks);
    machine->core_ticks = ticks ? ticks : machine->core_ticks;
    if (!percents || !ticks)
        return false;
    memset(ticks + machine->capacity, 0, (capacity - machine->capacity) * sizeof *ticks);
    machine->capacity = capacity;
    return true;
}

/* Lines "cpu0 user nice system idle iowait irq softirq steal". */
static void parse_cores(struct machine *machine, const char *text)
{
    const char *line = text;
    machine->n_cores = 0;
    do {
        uint64_t user, nice, system, idle, iowait, irq = 0, softirq = 0, steal = 0;
        if (strncmp(line, "cpu", 3) != 0 || line[3] == ' ' ||
            sscanf(line,
                "cpu%*u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                " %" SCNu64 " %" SCNu64,
                &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) < 5)
            continue;
        if (!reserve_core(machine))
            return;
        struct core_ticks *before = &machine->core_ticks[machine->n_cores];
        struct core_ticks now = {.busy = user + nice + system + irq + softirq + steal};
        now.all = now.busy + idle + iowait;
        /* Idle ticks may run backwards a little. */
        bool has_both = before->all > 0 && now.all > before->all && now.busy >= before->busy;
        machine->core_percents[machine->n_cores++] =
            has_both ? fmin(100, 100 * (double)(now.busy - before->busy) /
                                     (double)(now.all - before->all))
                     : NAN;
        *before = now;
    } while (next_line(&line));
}

static double meminfo_bytes(const char *text, const char *name)
{
    uint64_t kibibytes;
    const char *at = strstr(text, name);
    return at && sscanf(at + strlen(name), " %" SCNu64, &kibibytes) == 1 ? (double)kibibytes * 1024
                                                                         : NAN;
}

/* The rate of a counter that a file has, which is kept for the next time; NaN: there is none. */
static double read_rate(struct machine *machine, const char *file, double seconds,
    uint64_t (*parse)(const char *text), uint64_t *counter)
{
    CLEANUP_STR struct str text = {0};
    uint64_t before = *counter;
    bool is_there = read_file(machine, file, &text)[0] != '\0';
    *counter = is_there ? parse(str_text(&text)) : UNREAD;
    bool has_both = is_there && seconds > 0 && before != UNREAD && *counter >= before;
    return has_both ? (double)(*counter - before) / seconds : NAN;
}

void machine_read(struct machine *machine, double seconds)
{
    CLEANUP_STR struct str text = {0};
    struct machine_figures *now = &machine->now;
    double interval = machine->read_seconds > 0 ? seconds - machine->read_seconds : 0;
    machine->read_seconds = seconds;
    parse_cores(machine, read_file(machine, "stat", &text));

    const char *meminfo = read_file(machine, "meminfo", &text);
    now->swap_capacity_bytes = meminfo_bytes(meminfo, "SwapTotal:");
    now->swap_bytes = now->swap_capacity_bytes - meminfo_bytes(meminfo, "SwapFree:");

    now->disk_bytes_a_second =
        read_rate(machine, "diskstats", interval, machine_parse_disks, &machine->disk_bytes);
    now->network_bytes_a_second =
        read_rate(machine, "net/dev", interval, machine_parse_network, &machine->network_bytes);
    now->cpu_wait_percent = machine_parse_pressure(read_file(machine, "pressure/cpu", &text));
    now->storage_wait_percent = machine_parse_pressure(read_file(machine, "pressure/io", &text));
    now->memory_wait_percent = machine_parse_pressure(read_file(machine, "pressure/memory", &text));
}
