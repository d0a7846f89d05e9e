/* Tracking files as CSV: read to the end or refused, never past it. */
#include "files/tracking/tracking_reader.h"
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

/* What the plain form has next to it. */
static char *write_sidecar(const char *path)
{
    static const char text[] = "{\"tracking_file\": \"x\", \"static_data\": {\"ram_unit\": "
                               "\"bytes\", \"gpu_ram_unit\": \"bytes\", \"time_unit\": \"hours\"}}";
    char *sidecar;
    FILE *file = asprintf(&sidecar, "%s.session.json", path) < 0 ? NULL : fopen(sidecar, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    return sidecar;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/fuzz-XXXXXX.csv", fuzz_folder());
    int fd = mkstemps(path, 4);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    char *sidecar = write_sidecar(path);

    read_all(path, size, tracking_reader_open);
    read_all(path, size, tracking_reader_salvage);
    unlink(sidecar);
    unlink(path);
    free(sidecar);
    return 0;
}
