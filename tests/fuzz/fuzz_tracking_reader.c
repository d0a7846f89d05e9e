/* Tracking files as CSV: read to the end or refused, never past it. */
#include "formats/tracking/tracking_reader.h"
#include "fuzz_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const char *path, size_t size,
    int open_reader(const char *path, struct tracking_reader **reader, struct gput_error *error))
{
    struct tracking_reader *reader;
    struct gput_error error;
    if (open_reader(path, &reader, &error) != GPUT_OK)
        return;
    struct tracking_row rows[3];
    size_t count, total = 0;
    do {
        if (tracking_reader_next(reader, rows, 3, &count, &error) != GPUT_OK)
            break;
        total += count;
    } while (count);
    if (total > size)
        abort();
    tracking_reader_warning(reader);
    tracking_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/fuzz-XXXXXX.csv", fuzz_folder());
    int fd = mkstemps(path, 4);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);

    read_all(path, size, tracking_reader_open);
    read_all(path, size, tracking_reader_salvage);
    unlink(path);
    return 0;
}
