/* Results in JSON: never past the end; what was read can be written as text again. */
#include "analysis/analyze/analysis_load.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct gput_analysis *analysis;
    if (analysis_read_json(text, size, "fuzz", &analysis, NULL) == GPUT_OK) {
        char *bytes;
        if (gput_analysis_render(analysis, GPUT_FORMAT_TEXT, &bytes, NULL, NULL) == GPUT_OK)
            free(bytes);
        gput_analysis_destroy(analysis);
    }
    free(text);
    return 0;
}
