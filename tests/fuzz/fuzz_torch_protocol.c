/* Datagrams of programs that ask for traces: never past the end, and answers that are read as ours.
 */
#include "../../cli/torch/torch_protocol.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char answer[TORCH_MESSAGE_SIZE];
    unsigned char *bytes = calloc(1, size ? size : 1); /* reading past the end is seen */
    if (!bytes)
        abort();
    if (size)
        memcpy(bytes, data, size);
    struct torch_message message;
    if (torch_message_parse(bytes, size, &message) && message.kind != TORCH_OTHER &&
        (message.n_processes < 1 || message.n_processes > TORCH_MAX_PROCESSES))
        abort();
    size_t length = torch_message_compose(TORCH_REQUEST, bytes, size, answer);
    if (length > sizeof answer || (length > 0 && memcmp(answer + HEAD_SIZE, bytes, size) != 0))
        abort();
    free(bytes);
    return 0;
}
