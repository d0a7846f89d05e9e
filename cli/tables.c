#include "tables.h"

#include "message.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tables_read_format(
    const struct arguments *arguments, enum gput_format *format, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_TABLE_FORMAT);
    *format = GPUT_TEXT;
    if (!word || strcmp(word, "text") == 0)
        return GPUT_OK;
    *format = strcmp(word, "json") == 0 ? GPUT_JSON : GPUT_CSV;
    if (*format == GPUT_JSON || strcmp(word, "csv") == 0)
        return GPUT_OK;
    return fail(error, GPUT_ERROR_INVALID,
        "\"%s\" is not a valid format. Valid values are \"csv\", \"json\" or \"text\".", word);
}

int tables_write(
    const struct arguments *arguments, struct gput_tables *tables, struct gput_error *error)
{
    const char *only = arguments_value(arguments, OPTION_TABLE);
    enum gput_format format;
    char *text = NULL;
    int code = tables_read_format(arguments, &format, error);
    if (code == GPUT_OK && only)
        code = gput_tables_keep(tables, only, error);
    if (code == GPUT_OK && format == GPUT_CSV && gput_tables_count(tables) > 1)
        code = fail(error, GPUT_ERROR_INVALID,
            "CSV holds one table, and there are %zu here: choose one with --table (%s, ...).",
            gput_tables_count(tables), gput_table_name(gput_tables_get(tables, 0)));
    if (code == GPUT_OK)
        code = gput_tables_render(tables, format, &text, error);
    if (code == GPUT_OK)
        code = report_write_text(
            arguments_value(arguments, OPTION_TABLE_OUTPUT), STDOUT_FILENO, text, error);
    free(text);
    return code;
}
