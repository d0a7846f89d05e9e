/* --tconfig: options, or a message; either can be freed. */
#include <gputracker/config.h>

#include "fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_SIZE];
    int fd = fuzz_file(data, size, path);
    struct gput_config *config;
    struct gput_error error = {0};
    if (gput_config_load(path, &config, &error) == GPUT_OK)
        gput_config_destroy(config);
    else if (!error.message[0])
        abort();
    close(fd);
    return 0;
}
