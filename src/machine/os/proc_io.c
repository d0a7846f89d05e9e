#include "machine/os/proc_io.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <string.h>

int proc_io_parse(const char *text, struct proc_io *io)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    bool has_read = false;
    bool has_write = false;

    *io = (struct proc_io){0};
    while (scan_next_line(&text, end, &line)) {
        has_read |= SCAN_NUMBER(&line, "rchar:", &io->read_call_bytes);
        has_write |= SCAN_NUMBER(&line, "wchar:", &io->write_call_bytes);
        SCAN_NUMBER(&line, "read_bytes:", &io->read_bytes);
        SCAN_NUMBER(&line, "write_bytes:", &io->write_bytes);
        SCAN_NUMBER(&line, "cancelled_write_bytes:", &io->cancelled_write_bytes);
    }
    return has_read && has_write ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int proc_io_read(const char *root, pid_t pid, struct proc_io *io, struct gput_error *error)
{
    char text[1024];

    TRY(procfs_read(root, pid, "io", text, sizeof text, NULL, error));
    if (proc_io_parse(text, io) != GPUT_OK)
        return error_set(
            error, GPUT_ERROR_FORMAT, "%s/%d/io has an unexpected format.", root, (int)pid);
    return GPUT_OK;
}
