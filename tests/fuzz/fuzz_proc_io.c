/* /proc/PID/io: never past the end. */
#include "machine/os/task_counts.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct proc_io result;
    proc_io_parse(text, &result);
    free(text);
    return 0;
}
