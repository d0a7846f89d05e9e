/* Any bytes as a dump of cProfile. */
#include "base/str.h"
#include "files/import/cprofile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cprofile profile = {0};
    struct str text = {0};
    struct gput_tables *tables = tables_create();
    if (tables && cprofile_add(&profile, data, size, "fuzz", NULL) == GPUT_OK) {
        cprofile_print(&profile, CPROFILE_BY_CUMULATIVE_TIME, 10, &text, NULL);
        cprofile_put_all(&profile, tables, NULL);
    }
    gput_tables_destroy(tables);
    cprofile_finish(&profile);
    str_finish(&text);
    return 0;
}
