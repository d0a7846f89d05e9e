/* Dates of recordings: what is written as it was read is read as the same moment. */
#include "files/power/recording_date.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), written[RECORDING_DATE_SIZE];
    int64_t moment, again;
    if (recording_date_parse(text, &moment)) {
        recording_date_format(moment, written);
        if (!recording_date_parse(written, &again) || again != moment)
            abort();
    }
    free(text);
    return 0;
}
