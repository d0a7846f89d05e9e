#include "output/regions_report.h"

#include "output/analysis_render.h"

/* A file of the marks has the others. */
#define MAX_SHOWN 10

static bool has_notes(const struct gput_report_options *options)
{
    return options->region_notes && options->region_notes[0];
}

void regions_report_add(struct doc *root, const struct gput_report_options *options)
{
    if (!options->regions && !has_notes(options))
        return;
    struct doc *regions = doc_add_object(root, "regions");
    if (options->regions)
        analysis_add_blocks(options->regions, regions);
    if (!has_notes(options))
        return;
    struct doc *notes = doc_add_array(regions, "notes");
    for (const char *const *note = options->region_notes; *note; note++)
        doc_add_string(notes, NULL, *note);
}

void regions_report_write(const struct gput_report_options *options, struct str *text)
{
    if (options->regions && options->regions->n_blocks > 0) {
        str_printf(text, "\nRegions: %zu, the longest first\n", options->regions->n_blocks);
        analysis_write_longest(options->regions, MAX_SHOWN, options->width, text);
    }
    for (const char *const *note = options->region_notes; note && *note; note++)
        str_printf(text, "%s%s\n", note == options->region_notes ? "\n" : "", *note);
}
