/* Addresses of receivers, and lists of labels. */
#include "output/labels.h"
#include "push/push_url.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct push_url url;
    struct labels labels = {0};
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    if (push_url_parse(text, &url, NULL) == GPUT_OK) {
        if (url.path > strlen(url.text) || !url.host[0] || strpbrk(url.text, "\r\n "))
            abort();
        push_url_append(&url, "/v1/metrics", NULL);
    }
    labels_add_list(&labels, text, LABELS_OF_PROMETHEUS, NULL);
    labels_add_list(&labels, text, LABELS_OF_OTEL, NULL);
    labels_finish(&labels);
    free(text);
    return 0;
}
