/* /proc/pressure/NAME: never past the end. */
#include "machine/os/system_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    pressure_parse(text);
    free(text);
    return 0;
}
