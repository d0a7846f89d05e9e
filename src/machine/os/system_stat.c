#include "machine/os/system_stat.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <string.h>

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
