/* What a receiver answers: its head, its chunks, and the message in it. */
#include "services/push/http_response.h"
#include "services/push/protobuf.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const char *message, size_t length, int depth)
{
    struct protobuf_field field;
    for (size_t at = 0; protobuf_next(message, length, &at, &field);) {
        if (at > length || (field.has_bytes && (field.bytes < message ||
                                                   field.bytes + field.length > message + length)))
            abort();
        if (field.has_bytes && depth < 3)
            walk(field.bytes, field.length, depth + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1); /* no byte to spare: reading past the end is seen */
    struct http_answer answer;
    if (!bytes)
        abort();
    if (size)
        memcpy(bytes, data, size);
    if (http_answer_parse(bytes, size, 1792567680, &answer)) {
        if (answer.head_length > size || (answer.status && answer.status < 100))
            abort();
        http_answer_is_complete(&answer, bytes, size);
        size_t length = size - answer.head_length;
        if (http_answer_join_chunks(bytes + answer.head_length, length) > length)
            abort();
    }
    walk(bytes, size, 0);
    free(bytes);
    return 0;
}
