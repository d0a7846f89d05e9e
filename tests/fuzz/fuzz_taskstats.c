/* Records of taskstats: never past the end. */
#include "machine/os/taskstats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct taskstats_exit exit;
    taskstats_parse(data, size, &exit);
    return 0;
}
