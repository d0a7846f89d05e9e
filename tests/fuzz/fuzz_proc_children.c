/* /proc/PID/task/TID/children: never past the end, never a pid below 1. */
#include "machine/os/proc_list.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct pid_vector children = {0};
    proc_children_parse(text, &children);
    for (size_t i = 0; i < children.count; i++)
        if (children.pids[i] < 1)
            abort();
    pid_vector_finish(&children);
    free(text);
    return 0;
}
