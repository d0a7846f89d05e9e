/* Any bytes as the trace of a rank, read in every way. */
#include <gputracker/profile.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum gput_kineto_view views[] = {
        GPUT_KINETO_BREAKDOWN, GPUT_KINETO_KERNELS, GPUT_KINETO_IDLE, GPUT_KINETO_DIFF};
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
        close(fd);
        return 0;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const char *const paths[] = {path, path};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct gput_kineto_options options = {.size = sizeof options,
            .paths = paths,
            .path_count = views[i] == GPUT_KINETO_DIFF ? 2 : 1};
        struct gput_tables *tables = NULL;
        if (gput_kineto_tables(views[i], &options, &tables, NULL) == GPUT_OK)
            gput_tables_destroy(tables);
    }
    close(fd);
    return 0;
}
