/* The head of an HTTP request: never past the end, and a path and a host that lie inside. */
#include "services/serve/http_request.h"

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
    if (http_request_parse(bytes, size, &request) == HTTP_OK) {
        if (request.path < bytes || request.path + request.path_length > bytes + size ||
            request.path[0] != '/')
            abort();
        if (request.host &&
            (request.host < bytes || request.host + request.host_length > bytes + size))
            abort();
        host_name_is_served(request.host, request.host_length, "trainer,,box.example.org");
    }
    free(bytes);
    return 0;
}
