#include "views/report/loaders/report_non_session.h"

#include "base/file.h"
#include "base/text.h"

#include <string.h>

#define ANALYSIS                                                                                   \
    "%s is an analysis of code blocks ('sub-track analyze'), which has no samples: name the "      \
    "tracking file that it was made of, and the sub-tracking file with --stf."
#define COMPARISON                                                                                 \
    "%s is a comparison ('sub-track compare'), which has no samples: name the tracking files of "  \
    "its sessions, which are compared likewise, or draw the comparison with 'sub-track compare "   \
    "-o comparison.svg'."

/* What such files begin with, but for space; in pickles, the name of a class near the beginning. */
static const struct {
    const char *beginning, *in_pickle, *message;
} kinds[] = {
    {"{\"overall\":", NULL, ANALYSIS},
    {"Overall:", NULL, ANALYSIS},
    {"code_block,process_id,", NULL, ANALYSIS},
    {NULL, "TrackingResults", ANALYSIS},
    {"{\"overall_resource_usage\":", NULL, COMPARISON},
    {"OverallResourceUsage:", NULL, COMPARISON},
    {"code_block,measurement,statistic,session,", NULL, COMPARISON},
    {NULL, "ComparisonResults", COMPARISON},
};

static size_t read_beginning(const char *path, char *text, size_t size)
{
    return file_read_beginning(path, text, size);
}

/* Its beginning without space, as a string. */
static void without_space(const char *text, size_t length, char *packed, size_t size)
{
    size_t kept = 0;
    for (size_t i = 0; i < length && kept + 1 < size; i++)
        if (!strchr(" \t\r\n", text[i]))
            packed[kept++] = text[i];
    packed[kept] = '\0';
}

bool report_non_session_is(const char *path, struct gput_error *error)
{
    char text[512], packed[64];
    size_t length = read_beginning(path, text, sizeof text);
    without_space(text, length, packed, sizeof packed);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *beginning = kinds[i].beginning, *name = kinds[i].in_pickle;
        if (beginning ? text_begins_with(packed, beginning)
                      : memmem(text, length, name, strlen(name)) != NULL) {
            error_set(error, GPUT_ERROR_FORMAT, kinds[i].message, path);
            return true;
        }
    }
    return false;
}
