/* /proc/PID/cmdline of a proxy of Hydra. */
#include "machine/os/launcher.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char address[16];
    char *line = fuzz_text(data, size);
    hydra_parse(line, size, address, sizeof address);
    free(line);
    return 0;
}
