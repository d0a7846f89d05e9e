/* Columns of a report: whatever is added is read again, to half a step. */
#include "../views/report/document/column_decoder.h"
#include "fuzz_folder.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double steps[] = {REPORT_DOUBLES, 1, 0.001, 1e-9};
    size_t count = size > 1 ? (size - 1) / sizeof(double) : 0;
    double *values = calloc(count + 1, sizeof *values), *read = calloc(count + 1, sizeof *read);
    struct report_spool spool;
    struct report_column column;
    report_spool_init(&spool, fuzz_folder());
    report_column_init(&column, &spool, size ? steps[data[0] % 4] : 1);
    if (count)
        memcpy(values, data + 1, count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        if (report_column_add(&column, values[i], NULL) != GPUT_OK)
            abort();
    }
    if (report_column_end(&column, NULL) != GPUT_OK || !decoder_read(&column, read))
        abort();
    for (size_t i = 0; i < count; i++) {
        bool is_missing = isnan(values[i]) || !report_column_fits(&column, values[i]);
        double allowed = column.step / 2 + fabs(values[i]) * 1e-12;
        if (is_missing != (bool)isnan(read[i]) ||
            (!is_missing && fabs(read[i] - values[i]) > allowed))
            abort();
    }
    report_column_finish(&column);
    report_spool_finish(&spool);
    free(values);
    free(read);
    return 0;
}
