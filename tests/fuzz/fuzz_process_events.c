/* Messages of the process connector: never past the end, and always to the end. */
#include "machine/os/process_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned char *at = data;
    struct process_event event;
    uint32_t error;
    int64_t time_ns;
    while (process_events_parse(&at, data + size, &event))
        ;
    process_events_parse_answer(data, size, UINT32_MAX, &error, &time_ns);
    return 0;
}
