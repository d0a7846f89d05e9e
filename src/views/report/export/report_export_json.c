/* The document of a report as JSON, its columns as arrays. */
#include "views/report/export/report_export.h"

#include "base/cleanup.h"
#include "base/json_string.h"
#include "views/report/document/report_column_reader.h"
#include "views/report/export/report_output.h"

#include <math.h>
#include <string.h>

struct writer {
    const struct report_payload *payload;
    struct report_output output;
};

/* Writes the values of a column as a list, which is read in bounded memory. */
static int write_column(struct writer *writer, const struct doc *column, struct gput_error *error)
{
    CLEANUP(report_column_reader_finish) struct report_column_reader reader = {0};
    TRY(report_column_reader_init(&reader, writer->payload, column, error));
    str_append_char(&writer->output.text, '[');
    for (uint64_t row = 0; row < reader.count; row++) {
        double value;
        TRY(report_column_reader_next(&reader, &value, error));
        if (row > 0)
            str_append_char(&writer->output.text, ',');
        if (isnan(value))
            str_append(&writer->output.text, "null");
        else
            report_append_number(&writer->output.text, value, reader.decimals);
        TRY(report_output_pass(&writer->output, error));
    }
    str_append_char(&writer->output.text, ']');
    return GPUT_OK;
}

/* Writes a value of the document; of a column its values. */
static int write_value(struct writer *writer, const struct doc *value, struct gput_error *error)
{
    bool is_object = value->kind == DOC_OBJECT;
    if (report_is_column(value))
        return write_column(writer, value, error);
    if (!is_object && value->kind != DOC_ARRAY) {
        doc_write_json(value, -1, &writer->output.text);
        return GPUT_OK;
    }
    str_append_char(&writer->output.text, is_object ? '{' : '[');
    for (const struct doc *child = value->first; child; child = child->next) {
        if (is_object) {
            json_write_ascii_string(child->key, strlen(child->key), &writer->output.text);
            str_append(&writer->output.text, ": ");
        }
        TRY(write_value(writer, child, error));
        if (child->next)
            str_append(&writer->output.text, ", ");
    }
    str_append_char(&writer->output.text, is_object ? '}' : ']');
    return report_output_pass(&writer->output, error);
}

int report_export_json(const struct report_payload *payload, report_receiver *receive, void *user,
    struct gput_error *error)
{
    struct writer writer = {.payload = payload, .output = {.receive = receive, .user = user}};
    int code = write_value(&writer, payload->root, error);
    str_append_char(&writer.output.text, '\n');
    if (code == GPUT_OK)
        code = report_output_pass_rest(&writer.output, error);
    report_output_finish(&writer.output);
    return code;
}
