/* Pickles of results: never past the end, nothing run, time and memory within bounds; what was read
 * can be written again. */
#include "analysis/analyze/analysis_load.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct gput_analysis *analysis;
    if (analysis_read_pickle(text, size, "fuzz", &analysis, NULL) == GPUT_OK) {
        char *bytes;
        if (gput_analysis_render(analysis, GPUT_FORMAT_PICKLE, &bytes, NULL, NULL) == GPUT_OK)
            free(bytes);
        gput_analysis_destroy(analysis);
    }
    free(text);
    return 0;
}
