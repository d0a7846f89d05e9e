/* /proc/PID/task/T/schedstat: never past the end. */
#include "machine/os/proc_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct schedstat result;
    schedstat_parse(text, &result);
    free(text);
    return 0;
}
