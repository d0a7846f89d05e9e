/* /proc/PID/stat: never past the end, and the name is always terminated. */
#include "machine/os/proc_stat.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct proc_stat stat;
    if (proc_stat_parse(text, &stat) == GPUT_OK && strlen(stat.name) >= sizeof stat.name)
        abort();
    free(text);
    return 0;
}
