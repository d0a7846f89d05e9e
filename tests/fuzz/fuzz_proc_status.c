/* /proc/PID/status: never past the end, never more namespaces than there is space for. */
#include "machine/os/proc_status.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct proc_status status;
    if (proc_status_parse(text, &status) == GPUT_OK &&
        status.namespace_count > PROC_STATUS_MAX_NAMESPACES)
        abort();
    free(text);
    return 0;
}
