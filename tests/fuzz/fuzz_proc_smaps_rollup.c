/* /proc/PID/smaps_rollup: never past the end. */
#include "machine/os/proc_smaps.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct proc_smaps_rollup result;
    proc_smaps_rollup_parse(text, &result);
    free(text);
    return 0;
}
