/* Lists of CPUs: never past the end. */
#include "machine/os/cpu_count.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    uint32_t count;
    cpu_list_parse(text, &count);
    free(text);
    return 0;
}
