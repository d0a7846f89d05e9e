/* Sub-tracking files as CSV: whatever the bytes, rows that keep their promises or an error. */
#include "formats/marks/sub_tracking_file.h"
#include "fuzz_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(
    const char *path, int open_reader(const char *path, struct sub_tracking_names *names,
                          struct sub_tracking_reader **reader, struct gput_error *error))
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_reader *reader;
    if (open_reader(path, names, &reader, NULL) == GPUT_OK) {
        struct sub_tracking_mark rows[16];
        size_t count;
        while (sub_tracking_reader_next(reader, rows, 16, &count, NULL) == GPUT_OK && count > 0)
            for (size_t i = 0; i < count; i++)
                if (rows[i].position > SUB_TRACKING_STOP ||
                    rows[i].name >= sub_tracking_names_count(names))
                    abort();
        sub_tracking_reader_close(reader);
    }
    sub_tracking_names_destroy(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s/fuzz-%d.csv", fuzz_folder(), (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);

    read_all(path, sub_tracking_reader_open);
    read_all(path, sub_tracking_reader_salvage);
    unlink(path);
    return 0;
}
