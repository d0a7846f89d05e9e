#include "machine/os/proc_statm.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

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
