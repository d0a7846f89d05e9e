/* /proc/PID/statm: never past the end. */
#include "machine/os/proc_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct proc_statm result;
    proc_statm_parse(text, &result);
    free(text);
    return 0;
}
