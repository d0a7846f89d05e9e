/* /proc/net/dev: never past the end. */
#include "machine/os/system_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct network_traffic result;
    network_traffic_parse(text, &result);
    free(text);
    return 0;
}
