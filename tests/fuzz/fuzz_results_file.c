/* Resource usage files: what is accepted can be written as a report. */
#include <gputracker/results.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) != (ssize_t)size)
        abort();
    struct gput_results results;
    if (gput_results_load(path, &results, NULL) == GPUT_OK) {
        for (int format = GPUT_TEXT; format <= GPUT_PICKLE; format++) {
            char *bytes;
            if (format == GPUT_CSV)
                continue;
            if (gput_results_render(&results, (enum gput_format)format, &bytes, NULL, NULL) !=
                GPUT_OK)
                abort();
            free(bytes);
        }
    }
    close(fd);
    return 0;
}
