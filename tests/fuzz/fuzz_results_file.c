/*
 * Resource usage files: what is accepted can be written as a report. Half of the inputs are the
 * body of a copy, with the head and the checksum that belong to it, so that what is after the
 * checksum is reached.
 */
#include "files/results/results_codec.h"
#include "files/results/results_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { AT_BODY_SIZE = 20, AT_CHECKSUM = 24, AT_VERSION = 28, AT_BODY = 56 };

/* The head of an empty copy, and the input. */
static void make_copy(const uint8_t *data, size_t size, struct str *copy)
{
    struct gput_results none;
    memset(&none, 0, sizeof none);
    results_encode(&none, 1, copy);
    copy->length = AT_BODY;
    str_append_bytes(copy, data, size);
    if (copy->failed)
        abort();
    uint32_t body = (uint32_t)size;
    memcpy(copy->data + AT_BODY_SIZE, &body, sizeof body);
    uint32_t sum =
        (uint32_t)crc32(0, (Bytef *)copy->data + AT_VERSION, (uInt)(copy->length - AT_VERSION));
    memcpy(copy->data + AT_CHECKSUM, &sum, sizeof sum);
}

static void render(const struct gput_results *results)
{
    for (int format = GPUT_FORMAT_TEXT; format <= GPUT_FORMAT_LINE; format++) {
        char *bytes;
        if (format == GPUT_FORMAT_CSV || format == GPUT_FORMAT_PICKLE)
            continue;
        if (gput_results_render(results, NULL, (enum gput_format)format, &bytes, NULL, NULL) !=
            GPUT_OK)
            abort();
        free(bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str content = {0};
    struct gput_results results;
    memset(&results, 0, sizeof results);
    if (size > 0 && data[0] % 2 == 0)
        make_copy(data + 1, size - 1, &content);
    else
        str_append_bytes(&content, data, size);
    if (results_file_parse("fuzz", &content, &results, NULL) == GPUT_OK)
        render(&results);
    results_finish(&results);
    str_finish(&content);
    return 0;
}
