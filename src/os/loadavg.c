#include "os/loadavg.h"

#include "os/procfs.h"
#include "os/scan.h"

/* "0.42 ": two decimals always. */
static const char *scan_load(const char *text, double *load)
{
    uint64_t whole, hundredths;

    text = scan_uint64(text, &whole);
    if (!text || text[0] != '.' || !scan_is_digit(text[1]) || !scan_is_digit(text[2]))
        return NULL;
    text = scan_uint64(text + 1, &hundredths);
    if (!text || *text != ' ')
        return NULL;
    *load = (double)whole + (double)hundredths / 100;
    return text + 1;
}

int loadavg_parse(const char *text, struct loadavg *loadavg)
{
    uint64_t running, threads, last_pid;

    if (!(text = scan_load(text, &loadavg->load_1_minute)) ||
        !(text = scan_load(text, &loadavg->load_5_minutes)) ||
        !(text = scan_load(text, &loadavg->load_15_minutes)))
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
        return error_set(error, GPUT_ERROR_FORMAT, "%s/loadavg is not as expected.", root);
    return GPUT_OK;
}
