/* Addresses of receivers, and lists of labels. */
#include "fuzz_text.h"
#include "services/push/push_url.h"
#include "views/output/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct push_url url;
    struct labels labels = {0};
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
