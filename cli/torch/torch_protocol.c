#include "torch/torch_protocol.h"

#include <string.h>

enum { KIND_SIZE = 32, HEAD_SIZE = 8 + KIND_SIZE };

/* Bit of a request that can trace activities; the other one is for counters of GPUs. */
enum { ACTIVITIES = 2 };

static const char *const kinds[] = {"", "ctxt", "req"};

/* Returns the kind of a message by its name. */
static enum torch_message_kind kind_of(const unsigned char *text)
{
    for (int i = TORCH_CONTEXT; i <= TORCH_REQUEST; i++) {
        if (memcmp(text, kinds[i], strlen(kinds[i]) + 1) == 0)
            return (enum torch_message_kind)i;
    }
    return TORCH_OTHER;
}

/* Reads {i32 type, i32 count, i64 job, i32 processes[count]}. */
static bool read_request(const unsigned char *content, size_t length, struct torch_message *message)
{
    int32_t type, count;
    if (length < 16)
        return false;
    memcpy(&type, content, 4);
    memcpy(&count, content + 4, 4);
    if (count < 1 || (size_t)count > (length - 16) / 4)
        return false;
    message->can_trace = type & ACTIVITIES;
    message->n_processes = count < TORCH_MAX_PROCESSES ? (size_t)count : TORCH_MAX_PROCESSES;
    memcpy(message->processes, content + 16, message->n_processes * 4);
    return true;
}

bool torch_message_parse(const void *bytes, size_t length, struct torch_message *message)
{
    const unsigned char *head = bytes;
    uint64_t size;
    *message = (struct torch_message){0};
    if (length < HEAD_SIZE)
        return false;
    memcpy(&size, head, sizeof size);
    if (size != length - HEAD_SIZE)
        return false;
    message->kind = kind_of(head + 8);
    if (message->kind == TORCH_CONTEXT) {
        /* A context is {i32 device, i32 process, i64 job}. */
        if (length - HEAD_SIZE < 16)
            return false;
        memcpy(message->processes, head + HEAD_SIZE + 4, 4);
        message->n_processes = 1;
        return true;
    }
    return message->kind == TORCH_OTHER ||
           read_request(head + HEAD_SIZE, length - HEAD_SIZE, message);
}

size_t torch_message_compose(enum torch_message_kind kind, const void *content, size_t length,
    unsigned char message[TORCH_MESSAGE_SIZE])
{
    uint64_t size = length;
    if (length > TORCH_MESSAGE_SIZE - HEAD_SIZE)
        return 0;
    memset(message, 0, HEAD_SIZE);
    memcpy(message, &size, sizeof size);
    memcpy(message + 8, kinds[kind], strlen(kinds[kind]));
    if (length > 0)
        memcpy(message + HEAD_SIZE, content, length);
    return HEAD_SIZE + length;
}
