/* wchan and syscall of a thread: never past the end, a cause, or that it is not known. */
#include "machine/process/wait_cause.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    enum wall_cause channel = wait_cause_of_channel(text);
    enum wall_cause call = wait_cause_of_call("folio_wait_bit_common", text);
    if (channel > WALL_CAUSE_COUNT || call > WALL_CAUSE_COUNT)
        abort();
    free(text);
    return 0;
}
