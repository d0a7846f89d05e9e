#include "base/column.h"

#include <math.h>
#include <string.h>

double column_number(const struct column *column, const void *item)
{
    double value;
    if (column->number)
        return column->number(item);
    memcpy(&value, (const char *)item + column->offset, sizeof value);
    return value;
}

const char *column_text(const struct column *column, const void *item)
{
    const char *text;
    if (column->text)
        return column->text(item);
    memcpy(&text, (const char *)item + column->offset, sizeof text);
    return text;
}

void columns_add_to_doc(
    const struct column *columns, size_t count, const void *item, struct doc *object)
{
    for (const struct column *column = columns; column < columns + count; column++) {
        const char *text = column->type == GPUT_COLUMN_TEXT ? column_text(column, item) : NULL;
        double number = column->type == GPUT_COLUMN_TEXT ? NAN : column_number(column, item);
        if (text)
            doc_add_string(object, column->name, text);
        else if (column->type == GPUT_COLUMN_INT && !isnan(number))
            doc_add_int(object, column->name, (int64_t)number);
        else
            doc_add_double(object, column->name, number);
    }
}
