/*
 * Results of an analysis out of a document that JSON was read into.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "base/doc.h"

struct analysis_reader {
    const char *name; /* of the file, for messages */
    struct gput_analysis
        *analysis; /* made by analysis_read_doc(); the caller's, after errors too */
    struct gput_error *error;
};

/* Sets the error. Returns GPUT_ERROR_FORMAT. */
int analysis_reader_refuse(const struct analysis_reader *reader, const char *what);

/* Reads all but the code blocks. Errors: GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY. */
int analysis_read_doc(struct analysis_reader *reader, const struct doc *root);

/* Makes so many code blocks, to be read one by one. Errors: GPUT_ERROR_MEMORY. */
int analysis_reader_make_blocks(struct analysis_reader *reader, size_t count);

/* Reads a code block. Errors: as above. */
int analysis_read_block_doc(
    struct analysis_reader *reader, const struct doc *object, struct gput_code_block *block);
