/* JSON: whatever is read can be written, and that reads as the same. */
#include "base/doc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct gput_error error;
    struct doc *doc;
    if (doc_read_json((const char *)data, size, "fuzz", &doc, &error) != GPUT_OK)
        return 0;
    struct str first = {0}, second = {0};
    doc_write_json(doc, 1, &first);
    doc_destroy(doc);
    if (doc_read_json(first.data, first.length, "written", &doc, &error) != GPUT_OK)
        abort();
    doc_write_json(doc, 1, &second);
    if (strcmp(first.data, second.data) != 0)
        abort();
    doc_destroy(doc);
    str_finish(&first);
    str_finish(&second);
    return 0;
}
