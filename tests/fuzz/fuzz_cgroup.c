/* /proc/PID/cgroup and /proc/PID/mountinfo, one after the other with an empty line between. */
#include "machine/os/cgroup.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    char *mountinfo = strstr(text, "\n\n");
    if (mountinfo) {
        *++mountinfo = '\0'; /* keeps the newline that ends the first text */
        struct cgroup cgroup;
        if (cgroup_parse(text, mountinfo + 1, "/tmp", &cgroup) == GPUT_OK)
            cgroup_finish(&cgroup);
    }
    free(text);
    return 0;
}
