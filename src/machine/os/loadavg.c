#include "machine/os/loadavg.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

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
