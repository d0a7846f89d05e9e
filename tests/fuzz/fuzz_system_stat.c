/* /proc/stat: never past the end. */
#include "machine/os/system_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct system_stat stat;
    system_stat_parse(text, &stat);
    free(text);
    return 0;
}
