/* --tconfig: options, or a message; either can be freed. */
#include <gputracker/config.h>

#include "fuzz_text.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    struct gput_config *config;
    struct gput_error error = {0};
    if (gput_config_load(path, &config, &error) == GPUT_OK)
        gput_config_destroy(config);
    else if (!error.message[0])
        abort();
    close(fd);
    return 0;
}
