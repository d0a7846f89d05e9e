#include "views/output/regions_report.h"

#include "views/output/analysis_doc.h"
#include "views/output/analysis_render.h"

/* A file of the marks has the others. */
#define MAX_SHOWN 10

static bool has_notes(const char *const *notes)
{
    return notes && notes[0];
}

static void add_notes(struct doc *object, const char *const *notes)
{
    struct doc *array = has_notes(notes) ? doc_add_array(object, "notes") : NULL;
    for (; array && *notes; notes++)
        doc_add_string(array, NULL, *notes);
}

struct doc_items regions_report_add(
    struct doc *root, const struct gput_results_render_options *options)
{
    struct doc_items blocks = {0};
    if (options->regions || has_notes(options->region_notes)) {
        struct doc *regions = doc_add_object(root, "regions");
        if (options->regions)
            blocks = analysis_block_items(options->regions, doc_add_array(regions, "code_blocks"));
        add_notes(regions, options->region_notes);
    }
    if (options->torch_trace || has_notes(options->torch_notes)) {
        struct doc *trace = doc_add_object(root, "torch_trace");
        if (options->torch_trace)
            doc_add_string(trace, "file", options->torch_trace);
        add_notes(trace, options->torch_notes);
    }
    return blocks;
}

static void write_notes(const char *const *notes, struct str *text)
{
    for (const char *const *note = notes; note && *note; note++)
        str_printf(text, "%s%s\n", note == notes ? "\n" : "", *note);
}

void regions_report_write(const struct gput_results_render_options *options, struct str *text)
{
    if (options->regions && options->regions->n_blocks > 0) {
        str_printf(text, "\nRegions: %zu, the longest first\n", options->regions->n_blocks);
        analysis_write_longest(options->regions, MAX_SHOWN, options->width, text);
    }
    write_notes(options->region_notes, text);
    write_notes(options->torch_notes, text);
}
