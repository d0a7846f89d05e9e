#include "machine/os/loadavg.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

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
