#include "analysis/analyze/analysis_load.h"
#include "analysis/analyze/analysis_read_doc.h"

static int read_root(struct analysis_reader *reader, const struct doc *root)
{
    TRY(analysis_read_doc(reader, root));
    const struct doc *blocks = doc_get(root, "code_block_results");
    if (!blocks || blocks->kind != DOC_ARRAY)
        return analysis_reader_refuse(reader, "it has no \"code_block_results\"");
    TRY(analysis_reader_make_blocks(reader, blocks->count));
    size_t i = 0;
    for (const struct doc *block = blocks->first; block; block = block->next)
        TRY(analysis_read_block_doc(reader, block, &reader->analysis->blocks[i++]));
    return GPUT_OK;
}

int analysis_read_json(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error)
{
    struct analysis_reader reader = {.name = name, .error = error};
    struct doc *root;
    *analysis = NULL;
    TRY(doc_read_python_json(bytes, length, name, &root, error));
    int code = read_root(&reader, root);
    doc_destroy(root);
    if (code != GPUT_OK)
        gput_analysis_destroy(reader.analysis);
    else
        *analysis = reader.analysis;
    return code;
}
