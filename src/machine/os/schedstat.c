#include "machine/os/schedstat.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

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
