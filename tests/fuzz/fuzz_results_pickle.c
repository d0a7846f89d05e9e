/* Pickles of a session's resource usage: never past the end, nothing run, time and memory within
 * bounds; what was read can be shown. */
#include "analysis/analyze/results_read_pickle.h"
#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gput_results results;
    char *text = fuzz_text(data, size);
    if (results_read_pickle(text, size, "fuzz", &results, NULL) == GPUT_OK) {
        char *bytes;
        if (gput_results_render(&results, NULL, GPUT_FORMAT_JSON, &bytes, NULL, NULL) == GPUT_OK)
            free(bytes);
    }
    free(text);
    return 0;
}
