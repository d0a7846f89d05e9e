/* The head of an HTTP request: never past the end, and a path that lies inside. */
#include "serve/http_request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *bytes = malloc(size ? size : 1); /* no byte to spare: reading past the end is seen */
    if (!bytes)
        abort();
    if (size)
        memcpy(bytes, data, size);
    struct http_request request;
    if (http_request_parse(bytes, size, &request) == HTTP_OK &&
        (request.path < bytes || request.path + request.path_length > bytes + size ||
            request.path[0] != '/'))
        abort();
    free(bytes);
    return 0;
}
