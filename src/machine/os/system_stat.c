#include "machine/os/system_stat.h"

#include "base/file.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The columns of the "cpu" line. Those after them, guests (virtual machines), are inside user and
 * nice. Iowait is idle while a task waited for storage, and may decrease; steal was used by other
 * virtual machines. */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, COLUMNS };

/* Parses the total of all CPUs. Columns that Linux before 2.6.11 lacks are 0. */
static bool parse_total(const char *text, struct system_stat *stat)
{
    uint64_t ticks;
    int column = 0;

    for (; column < COLUMNS && (text = scan_uint64(text, &ticks)); column++) {
        stat->total_ticks += ticks;
        if (column != IDLE && column != IOWAIT && column != STEAL)
            stat->busy_ticks += ticks;
        if (column == STEAL)
            stat->steal_ticks = ticks;
        text = scan_blanks(text);
    }
    return column > IDLE;
}

int system_stat_parse(const char *text, struct system_stat *stat)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    const char *value;

    *stat = (struct system_stat){0};
    if (!scan_next_line(&text, end, &line) || !(value = SCAN_VALUE(&line, "cpu ")) ||
        !parse_total(value, stat))
        return GPUT_ERROR_FORMAT;
    while (scan_next_line(&text, end, &line)) {
        uint64_t number;

        switch (*line.start) {
        case 'c':
            if (SCAN_NUMBER(&line, "cpu", &number))
                stat->cpu_count++;
            break;
        case 'p':
            SCAN_NUMBER(&line, "processes ", &stat->processes_started);
            break;
        }
    }

    return GPUT_OK;
}

int system_stat_read(const char *root, struct system_stat *stat, struct gput_error *error)
{
    struct str text = {0};
    int code = procfs_read_all(root, PROCFS_SYSTEM, "stat", &text, error);

    if (code == GPUT_OK && system_stat_parse(str_text(&text), stat) != GPUT_OK)
        code = error_set(error, GPUT_ERROR_FORMAT, "%s/stat has an unexpected format.", root);
    str_finish(&text);
    return code;
}

/* ---- /proc/meminfo ---- */

enum {
    SEEN_TOTAL = 1,
    SEEN_FREE = 2,
    SEEN_AVAILABLE = 4,
    SEEN_BUFFERS = 8,
    SEEN_CACHED = 16,
    SEEN_SLAB = 32,
    SEEN_ALL = 63
};

/* Dispatches by the first letter of the key. Returns the key if it is one of ours. */
static int parse_line(const struct scan_line *line, struct meminfo *meminfo)
{
    switch (*line->start) {
    case 'M':
        if (SCAN_BYTES(line, "MemTotal:", &meminfo->total_bytes))
            return SEEN_TOTAL;
        if (SCAN_BYTES(line, "MemFree:", &meminfo->free_bytes))
            return SEEN_FREE;
        if (SCAN_BYTES(line, "MemAvailable:", &meminfo->available_bytes))
            return SEEN_AVAILABLE;
        return 0;
    case 'B':
        return SCAN_BYTES(line, "Buffers:", &meminfo->buffers_bytes) ? SEEN_BUFFERS : 0;
    case 'C':
        return SCAN_BYTES(line, "Cached:", &meminfo->cached_bytes) ? SEEN_CACHED : 0;
    case 'S':
        if (SCAN_BYTES(line, "SwapTotal:", &meminfo->swap_total_bytes) ||
            SCAN_BYTES(line, "SwapFree:", &meminfo->swap_free_bytes))
            return 0;
        return SCAN_BYTES(line, "SReclaimable:", &meminfo->reclaimable_slab_bytes) ? SEEN_SLAB : 0;
    default:
        return 0;
    }
}

int meminfo_parse(const char *text, struct meminfo *meminfo)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    int seen = 0;

    *meminfo = (struct meminfo){0};
    /* Half of the lines follow those that are read. */
    while (seen != SEEN_ALL && scan_next_line(&text, end, &line))
        seen |= parse_line(&line, meminfo);
    meminfo->has_available = (seen & SEEN_AVAILABLE) != 0;
    uint64_t kib;
    const char *hugetlb = strstr(text, "\nHugetlb:");
    meminfo->has_hugetlb =
        hugetlb && scan_uint64(scan_blanks(hugetlb + strlen("\nHugetlb:")), &kib) && kib > 0;
    return (seen & SEEN_TOTAL) && (seen & SEEN_FREE) ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int meminfo_read(const char *root, struct meminfo *meminfo, struct gput_error *error)
{
    char text[16384];

    TRY(procfs_read(root, PROCFS_SYSTEM, "meminfo", text, sizeof text, NULL, error));
    if (meminfo_parse(text, meminfo) != GPUT_OK)
        return error_set(error, GPUT_ERROR_FORMAT, "%s/meminfo has an unexpected format.", root);
    return GPUT_OK;
}

/* Subtracts, but never below zero: in containers the figures may come from different layers. */
static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

uint64_t meminfo_used_bytes(const struct meminfo *meminfo)
{
    if (meminfo->has_available)
        return less(meminfo->total_bytes, meminfo->available_bytes);
    uint64_t taken = less(meminfo->total_bytes, meminfo->free_bytes);
    uint64_t cache =
        meminfo->buffers_bytes + meminfo->cached_bytes + meminfo->reclaimable_slab_bytes;
    return cache > taken ? taken : taken - cache;
}

/* ---- /proc/loadavg ---- */

/* Since Linux 5.9; older headers lack it. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

bool loadavg_pids_may_be_chosen(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capget, &header, sets) != 0)
        return geteuid() == 0;
    uint64_t permitted = (uint64_t)sets[1].permitted << 32 | sets[0].permitted;
    return (permitted >> CAP_SYS_ADMIN | permitted >> CAP_CHECKPOINT_RESTORE) & 1;
}

/* Returns what follows "0.42 "; NULL: it is not that. */
static const char *skip_load(const char *text)
{
    uint64_t number;

    text = scan_uint64(text, &number);
    if (!text || *text != '.')
        return NULL;
    text = scan_uint64(text + 1, &number);
    return text && *text == ' ' ? text + 1 : NULL;
}

int loadavg_parse(const char *text, struct loadavg *loadavg)
{
    uint64_t running, threads, last_pid;

    if (!(text = skip_load(text)) || !(text = skip_load(text)) || !(text = skip_load(text)))
        return GPUT_ERROR_FORMAT;
    text = scan_uint64(text, &running);
    if (!text || *text != '/')
        return GPUT_ERROR_FORMAT;
    text = scan_uint64(text + 1, &threads);
    if (!text || *text != ' ' || !scan_uint64(text + 1, &last_pid))
        return GPUT_ERROR_FORMAT;
    loadavg->threads = (uint32_t)threads;
    loadavg->last_pid = (pid_t)last_pid;
    return GPUT_OK;
}

int loadavg_read(const char *root, struct loadavg *loadavg, struct gput_error *error)
{
    char text[256];

    TRY(procfs_read(root, PROCFS_SYSTEM, "loadavg", text, sizeof text, NULL, error));
    if (loadavg_parse(text, loadavg) != GPUT_OK)
        return error_set(error, GPUT_ERROR_FORMAT, "%s/loadavg has an unexpected format.", root);
    return GPUT_OK;
}

/* ---- /proc/net/dev ---- */

/* Several hundred interfaces; more are skipped. */
#define TEXT_BYTES 65536
/* "sent bytes" is the ninth number of a line. */
#define SENT_AT 8

/* Parses the numbers after "eth0:". False: the line is cut off. */
static bool add_interface(const char *at, struct network_traffic *traffic)
{
    uint64_t numbers[SENT_AT + 1];
    for (size_t i = 0; i <= SENT_AT; i++) {
        at = scan_uint64(scan_blanks(at), &numbers[i]);
        if (!at)
            return false;
    }
    traffic->received_bytes += numbers[0];
    traffic->sent_bytes += numbers[SENT_AT];
    return true;
}

int network_traffic_parse(const char *text, struct network_traffic *traffic)
{
    *traffic = (struct network_traffic){0};
    const char *line = strchr(text, '\n');
    line = line ? strchr(line + 1, '\n') : NULL;
    if (!line || !memchr(text, '|', (size_t)(line - text)))
        return GPUT_ERROR_FORMAT;
    for (; line; line = strchr(line, '\n')) {
        line = scan_blanks(line + 1);
        size_t name = strcspn(line, ":\n");
        if (line[name] == ':' && !(name == 2 && memcmp(line, "lo", 2) == 0))
            add_interface(line + name + 1, traffic);
        line += name;
    }
    return GPUT_OK;
}

int network_traffic_reread(int fd, struct network_traffic *traffic)
{
    char text[TEXT_BYTES];
    size_t length;
    /* Not procfs_reread(): the kernel gives a page at a time, which is some 30 interfaces. */
    TRY(file_read_at(fd, "net/dev", text, sizeof text - 1, 0, &length, NULL));
    text[length] = '\0';
    return network_traffic_parse(text, traffic);
}

#define PRESSURE_BYTES 512

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=3351870307": the last one, which are microseconds.
 */
static double seconds_of_line(const char *text, const char *line)
{
    uint64_t microseconds;
    const char *at = strstr(text, line), *end = at ? strchr(at, '\n') : NULL;
    const char *total = at ? strstr(at, " total=") : NULL;
    if (!end || !total || total > end || !scan_uint64(total + strlen(" total="), &microseconds))
        return NAN;
    return (double)microseconds / 1e6;
}

struct pressure pressure_parse(const char *text)
{
    return (struct pressure){seconds_of_line(text, "some "), seconds_of_line(text, "full ")};
}

struct pressure pressure_read(const char *path)
{
    char text[PRESSURE_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    file_close_fd(&fd);
    text[length > 0 ? length : 0] = '\0';
    return pressure_parse(text);
}
