#include "views/report/export/report_output.h"

#include "base/error.h"

#define ENOUGH_BYTES ((size_t)1 << 16)

void report_output_finish(struct report_output *output)
{
    str_finish(&output->text);
}

int report_output_pass_rest(struct report_output *output, struct gput_error *error)
{
    if (output->text.failed)
        return error_memory(error);
    int code = output->receive(output->user, output->text.data, output->text.length, error);
    str_clear(&output->text);
    return code;
}

int report_output_pass(struct report_output *output, struct gput_error *error)
{
    if (output->text.length < ENOUGH_BYTES && !output->text.failed)
        return GPUT_OK;
    return report_output_pass_rest(output, error);
}
