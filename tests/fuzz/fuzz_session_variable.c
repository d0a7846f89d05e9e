/* GPUT_SESSION. */
#include "machine/os/environment.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char ids[SESSION_IDS_SIZE];
    char *value = fuzz_text(data, size);
    session_variable_parse(value, "/nonexistent", 1, ids);
    free(value);
    return 0;
}
