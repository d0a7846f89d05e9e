#include "machine/os/proc_status.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <signal.h>
#include <string.h>

enum { SEEN_PID = 1, SEEN_PARENT = 2, SEEN_MEMORY = 4 };

/* Dispatches by the first letter of the key, so that most lines cost one comparison. Returns the
 * keys found so far. */
static int parse_line(const struct scan_line *line, struct proc_status *status)
{
    const char *value;
    uint64_t number;

    switch (*line->start) {
    case 'S':
        if ((value = SCAN_VALUE(line, "SigIgn:")) && scan_hexadecimal(value, &number))
            status->ignores_children = number >> (SIGCHLD - 1) & 1;
        return 0;
    case 'P':
        if (!SCAN_NUMBER(line, "Pid:", &number))
            return SCAN_NUMBER(line, "PPid:", &number) ? SEEN_PARENT : 0;
        status->pid = (pid_t)number;
        return SEEN_PID;
    case 'U':
        if ((value = SCAN_VALUE(line, "Uid:"))) {
            uint64_t id;

            if (scan_uint64(value, &id))
                status->uid = (uid_t)id;
        }

        return 0;
    case 'N':
        if ((value = SCAN_VALUE(line, "NSpid:"))) {
            const char *text = value;
            uint64_t pid;

            while (status->namespace_count < PROC_STATUS_MAX_NAMESPACES &&
                   (text = scan_uint64(text, &pid))) {
                status->namespace_pids[status->namespace_count++] = (pid_t)pid;
                text = scan_blanks(text);
            }
        }

        return 0;
    case 'V':
        SCAN_BYTES(line, "VmHWM:", &status->peak_rss_bytes);
        SCAN_BYTES(line, "VmSwap:", &status->swapped_bytes);
        return SCAN_BYTES(line, "VmRSS:", &number) ? SEEN_MEMORY : 0;
    case 'H':
        SCAN_BYTES(line, "HugetlbPages:", &status->hugetlb_bytes);
        return 0;
    case 'C':
        if ((value = SCAN_VALUE(line, "Cpus_allowed:"))) {
            /* Count the bits of a mask such as "ff,ffffffff". */
            const char *text = value;
            uint32_t count = 0;
            uint64_t word;

            while ((text = scan_hexadecimal(text, &word))) {
                count += (uint32_t)__builtin_popcountll(word);
                if (*text++ != ',')
                    break;
            }
            status->allowed_cpu_count = count;
        }

        return 0;
    case 'v':
        SCAN_NUMBER(line, "voluntary_ctxt_switches:", &status->voluntary_context_switches);
        return 0;
    case 'n':
        SCAN_NUMBER(line, "nonvoluntary_ctxt_switches:", &status->nonvoluntary_context_switches);
        return 0;
    default:
        return 0;
    }
}

int proc_status_parse(const char *text, struct proc_status *status)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    int seen = 0;

    *status = (struct proc_status){0};
    while (scan_next_line(&text, end, &line))
        seen |= parse_line(&line, status);
    status->has_memory = (seen & SEEN_MEMORY) != 0;
    return (seen & SEEN_PID) && (seen & SEEN_PARENT) ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int proc_status_read(
    const char *root, pid_t pid, struct proc_status *status, struct gput_error *error)
{
    /* The groups of its user alone may be thousands. */
    struct str text = {0};
    int code = procfs_read_all(root, pid, "status", &text, error);
    if (code == GPUT_OK && proc_status_parse(str_text(&text), status) != GPUT_OK)
        code = error_set(
            error, GPUT_ERROR_FORMAT, "%s/%d/status has an unexpected format.", root, (int)pid);
    str_finish(&text);
    return code;
}
