/*
 * Resource usage files: what is accepted can be written as a report. Half of the inputs are changes
 * of sound results, written with the checksum that belongs to them, so that what is after the
 * checksum is reached.
 */
#include "formats/results/results_file.h"

#include <gputracker/results.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Before each change: where it goes, by words, and of how many bytes it is. */
#define CHANGE_HEAD 3

static struct gput_results sound_results(void)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.n_sources = 3;
    results.n_later_limits = 2;
    results.n_gpus = 2;
    strcpy(results.sources[0].name, "ram");
    strcpy(results.limit.kind_name, "ram");
    strcpy(results.gpus[0].uuid, "GPU-0");
    return results;
}

static void change(struct gput_results *results, const uint8_t *data, size_t size)
{
    while (size > CHANGE_HEAD) {
        size_t at = ((size_t)data[0] << 8 | data[1]) * 4 % sizeof *results;
        size_t length = (size_t)(data[2] % 16) + 1;
        data += CHANGE_HEAD, size -= CHANGE_HEAD;
        if (length > size)
            length = size;
        if (length > sizeof *results - at)
            length = sizeof *results - at;
        memcpy((char *)results + at, data, length);
        data += length, size -= length;
    }
}

static void write_changed(const char *path, const uint8_t *data, size_t size)
{
    struct results_file *file;
    struct gput_results results = sound_results();
    change(&results, data, size);
    if (results_file_create(path, &file, NULL) != GPUT_OK)
        abort();
    results_file_update(file, &results);
    results_file_close(file);
}

static void write_raw(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz-%d.results", (int)getpid());
    if (size > 0 && data[0] % 2 == 0)
        write_changed(path, data + 1, size - 1);
    else
        write_raw(path, data, size);
    struct gput_results results;
    if (gput_results_load(path, &results, NULL) == GPUT_OK) {
        for (int format = GPUT_TEXT; format <= GPUT_OPENMETRICS; format++) {
            char *bytes;
            if (format == GPUT_CSV)
                continue;
            if (gput_results_render(&results, (enum gput_format)format, &bytes, NULL, NULL) !=
                GPUT_OK)
                abort();
            free(bytes);
        }
    }
    unlink(path);
    return 0;
}
