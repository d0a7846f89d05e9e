#include "views/output/bench_render.h"

#include "views/output/bench_export.h"
#include "views/output/bench_html.h"
#include "views/output/bench_text.h"

int bench_render(const struct doc *document, const struct gput_bench_render_options *options,
    enum gput_format format, struct str *text, struct gput_error *error)
{
    switch (format) {
    case GPUT_FORMAT_TEXT:
        bench_text(document, options, text);
        return GPUT_OK;
    case GPUT_FORMAT_JSON:
        doc_write_json(document, 1, text);
        str_append(text, "\n");
        return GPUT_OK;
    case GPUT_FORMAT_CSV:
        bench_csv(document, text);
        return GPUT_OK;
    case GPUT_FORMAT_MARKDOWN:
        bench_markdown(document, text);
        return GPUT_OK;
    case GPUT_FORMAT_ASCIIDOC:
        bench_asciidoc(document, text);
        return GPUT_OK;
    case GPUT_FORMAT_HTML:
        bench_html(document, text);
        return GPUT_OK;
    case GPUT_FORMAT_HYPERFINE:
        bench_hyperfine(document, text);
        return GPUT_OK;
    case GPUT_FORMAT_BENCHER:
        bench_bencher(document, text);
        return GPUT_OK;
    default:
        return error_set(error, GPUT_ERROR_INVALID, "A benchmark has no such format.");
    }
}
