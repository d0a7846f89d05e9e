/* /proc/meminfo: never past the end, never more used than there is. */
#include "machine/os/system_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct meminfo meminfo;
    if (meminfo_parse(text, &meminfo) == GPUT_OK &&
        meminfo_used_bytes(&meminfo) > meminfo.total_bytes)
        abort();
    free(text);
    return 0;
}
