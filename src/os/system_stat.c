#include "os/system_stat.h"

#include "os/procfs.h"
#include "os/scan.h"

#include <string.h>

/* The "cpu" line. Linux before 2.6.11 has fewer columns: what is missing is 0. */
static bool parse_total(const char *text, struct system_stat *stat)
{
    uint64_t *const columns[] = {
        &stat->user_ticks,
        &stat->nice_ticks,
        &stat->system_ticks,
        &stat->idle_ticks,
        &stat->iowait_ticks,
        &stat->irq_ticks,
        &stat->softirq_ticks,
        &stat->steal_ticks,
    };
    size_t count = 0;

    for (; count < sizeof columns / sizeof *columns; count++) {
        text = scan_uint64(text, columns[count]);
        if (!text)
            break;
        stat->total_ticks += *columns[count];
        text = scan_blanks(text);
    }
    stat->busy_ticks =
        stat->total_ticks - stat->idle_ticks - stat->iowait_ticks - stat->steal_ticks;
    return count >= 4;
}

static void parse_line(const struct scan_line *line, struct system_stat *stat)
{
    uint64_t number;

    switch (*line->start) {
    case 'c':
        if (SCAN_NUMBER(line, "cpu", &number))
            stat->cpu_count++;
        else
            SCAN_NUMBER(line, "ctxt ", &stat->context_switches);
        break;
    case 'p':
        SCAN_NUMBER(line, "processes ", &stat->processes_started);
        break;
    }
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
    while (scan_next_line(&text, end, &line))
        parse_line(&line, stat);
    return GPUT_OK;
}

int system_stat_read(const char *root, struct system_stat *stat, struct gput_error *error)
{
    struct str text = {0};
    int code = procfs_read_all(root, PROCFS_SYSTEM, "stat", &text, error);

    if (code == GPUT_OK && system_stat_parse(str_text(&text), stat) != GPUT_OK)
        code = error_set(error, GPUT_ERROR_FORMAT, "%s/stat is not as expected.", root);
    str_finish(&text);
    return code;
}
