/* Any bytes as the trace of a rank, read in every way. */
#include <gputracker/profile.h>

#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum gput_kineto_view views[] = {
        GPUT_KINETO_BREAKDOWN, GPUT_KINETO_KERNELS, GPUT_KINETO_IDLE, GPUT_KINETO_DIFF};
    char path[FUZZ_PATH_SIZE];
    int fd = fuzz_file(data, size, path);
    const char *const paths[] = {path, path};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        struct gput_kineto_options options = {.size = sizeof options,
            .paths = paths,
            .n_paths = views[i] == GPUT_KINETO_DIFF ? 2 : 1};
        struct gput_tables *tables = NULL;
        if (gput_kineto_tables(views[i], &options, &tables, NULL) == GPUT_OK)
            gput_tables_destroy(tables);
    }
    close(fd);
    return 0;
}
