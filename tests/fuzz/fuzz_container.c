/* /proc/PID/cgroup and /proc/PID/mountinfo, one after the other with an empty line between. */
#include "machine/os/mountinfo.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    char *mountinfo = strstr(text, "\n\n");
    struct container container;
    if (mountinfo) {
        *++mountinfo = '\0'; /* keeps the newline that ends the first text */
        container_parse(text, mountinfo + 1, &container);
    }
    free(text);
    return 0;
}
