#include "machine/os/proc_stat.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <string.h>

/* The fields after the name, in the kernel's order: 4 to 24 and, on newer kernels, more. */
enum stat_field {
    PPID,
    PROCESS_GROUP,
    SESSION,
    TERMINAL,
    TERMINAL_GROUP,
    FLAGS,
    MINOR_FAULTS,
    CMINOR_FAULTS,
    MAJOR_FAULTS,
    CMAJOR_FAULTS,
    UTIME,
    STIME,
    CUTIME,
    CSTIME,
    PRIORITY,
    NICE,
    THREADS,
    ITREALVALUE,
    START_TIME,
    VSIZE,
    RSS,
    NEEDED_FIELDS,
    START_STACK = 24,
};

/* Reads the numbers into `values`, negative ones as two's complement. Returns the byte after them,
 * or NULL when some are missing. */
static const char *scan_fields(const char *text, uint64_t *values)
{
    for (int i = 0; i < NEEDED_FIELDS; i++) {
        if (*text++ != ' ')
            return NULL;
        if (scan_is_digit(text[0]) &&
            text[1] == ' ') { /* fast path for most of them: saves a fifth */
            values[i] = (uint64_t)(*text++ - '0');
            continue;
        }
        bool negative = *text == '-';
        text = scan_uint64(text + negative, &values[i]);
        if (!text)
            return NULL;
        if (negative)
            values[i] = -values[i];
    }
    return text;
}

/* Reads the address of the stack, which older kernels lack and which needs permission. `text`
 * follows the other fields; those between are skipped. */
static uint64_t scan_start_stack(const char *text)
{
    uint64_t address = 0;
    for (int count = START_STACK - RSS; count > 0; text++) {
        if (*text == '\0')
            return 0;
        count -= *text == ' ';
    }
    return scan_uint64(text, &address) ? address : 0;
}

int proc_stat_parse(const char *text, struct proc_stat *stat)
{
    uint64_t pid;
    uint64_t values[NEEDED_FIELDS];
    const char *name = scan_uint64(text, &pid);

    if (!name || pid > INT32_MAX || name[0] != ' ' || name[1] != '(')
        return GPUT_ERROR_FORMAT;
    name += 2;
    /* The name may contain parentheses; nothing after it does. */
    const char *name_end = strrchr(name, ')');
    if (!name_end || name_end[1] != ' ' || name_end[2] == '\0')
        return GPUT_ERROR_FORMAT;
    const char *rest = scan_fields(name_end + 3, values);
    if (!rest)
        return GPUT_ERROR_FORMAT;

    stat->pid = (pid_t)pid;
    stat->state = name_end[2];
    size_t length = (size_t)(name_end - name);
    if (length > sizeof stat->name - 1)
        length = sizeof stat->name - 1;
    memcpy(stat->name, name, length);
    stat->name[length] = '\0';

    stat->ppid = (pid_t)values[PPID];
    stat->session = (pid_t)values[SESSION];
    stat->flags = (uint32_t)values[FLAGS];
    stat->minor_faults = values[MINOR_FAULTS];
    stat->cminor_faults = values[CMINOR_FAULTS];
    stat->major_faults = values[MAJOR_FAULTS];
    stat->cmajor_faults = values[CMAJOR_FAULTS];
    stat->utime_ticks = values[UTIME];
    stat->stime_ticks = values[STIME];
    stat->cutime_ticks = values[CUTIME];
    stat->cstime_ticks = values[CSTIME];
    stat->thread_count = (uint32_t)values[THREADS];
    stat->start_time_ticks = values[START_TIME];

    stat->start_stack_address = scan_start_stack(rest);
    return GPUT_OK;
}

/* Parses what was read of a process's stat, and names the file in errors. */
static int parse_read(
    const char *root, pid_t pid, const char *text, struct proc_stat *stat, struct gput_error *error)
{
    if (proc_stat_parse(text, stat) == GPUT_OK)
        return GPUT_OK;
    return error_set(
        error, GPUT_ERROR_FORMAT, "%s/%d/stat has an unexpected format.", root, (int)pid);
}

int proc_stat_read(const char *root, pid_t pid, struct proc_stat *stat, struct gput_error *error)
{
    char text[PROCFS_TEXT_SIZE];

    TRY(procfs_read(root, pid, "stat", text, sizeof text, NULL, error));
    return parse_read(root, pid, text, stat, error);
}

int proc_stat_read_bounded(struct bounded_calls *calls, const char *root, pid_t pid,
    struct proc_stat *stat, struct gput_error *error)
{
    struct str text = {0};
    int code = procfs_read_bounded(calls, root, pid, "stat", &text, error);
    if (code == GPUT_OK)
        code = parse_read(root, pid, str_text(&text), stat, error);
    str_finish(&text);
    return code;
}

/* ---- statm ---- */

int proc_statm_parse(const char *text, struct proc_statm *statm)
{
    text = scan_uint64(text, &statm->virtual_pages);
    if (!text || *text != ' ')
        return GPUT_ERROR_FORMAT;
    text = scan_uint64(text + 1, &statm->resident_pages);
    if (!text || *text != ' ')
        return GPUT_ERROR_FORMAT;
    return scan_uint64(text + 1, &statm->shared_pages) ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int proc_statm_read(const char *root, pid_t pid, struct proc_statm *statm, struct gput_error *error)
{
    char text[256];

    TRY(procfs_read(root, pid, "statm", text, sizeof text, NULL, error));
    if (proc_statm_parse(text, statm) != GPUT_OK)
        return error_set(
            error, GPUT_ERROR_FORMAT, "%s/%d/statm has an unexpected format.", root, (int)pid);
    return GPUT_OK;
}

/* ---- schedstat ---- */

int schedstat_parse(const char *text, struct schedstat *schedstat)
{
    text = scan_uint64(text, &schedstat->run_ns);
    if (!text || *text != ' ')
        return GPUT_ERROR_FORMAT;
    text = scan_uint64(text + 1, &schedstat->wait_ns);
    if (!text || *text != ' ')
        return GPUT_ERROR_FORMAT;
    return scan_uint64(text + 1, &schedstat->timeslices) ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int schedstat_reread(int fd, struct schedstat *schedstat)
{
    char text[128];
    TRY(procfs_reread(fd, text, sizeof text, NULL));
    return schedstat_parse(text, schedstat);
}
