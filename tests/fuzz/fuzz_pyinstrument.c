/* Any bytes as a session of pyinstrument. */
#include "files/import/pyinstrument.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pyinstrument sum = {0};
    pyinstrument_add(&sum, (const char *)data, size, "fuzz", NULL);
    pyinstrument_finish(&sum);
    return 0;
}
