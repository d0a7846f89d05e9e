#include "base/column.h"

#include <math.h>

double column_number(const struct column *column, const void *item)
{
    if (column->number)
        return column->number(item);
    const void *member = (const char *)item + column->offset;
    switch (column->member) {
    case COLUMN_MEMBER_DOUBLE:
        return *(const double *)member;
    case COLUMN_MEMBER_BOOL:
        return *(const bool *)member;
    case COLUMN_MEMBER_INT:
        return *(const int *)member;
    case COLUMN_MEMBER_LONG:
        return (double)*(const long *)member;
    case COLUMN_MEMBER_UNSIGNED_LONG:
        return (double)*(const unsigned long *)member;
    default:
        return NAN;
    }
}

const char *column_text(const struct column *column, const void *item)
{
    if (column->text)
        return column->text(item);
    const void *member = (const char *)item + column->offset;
    if (column->member == COLUMN_MEMBER_TEXT)
        return *(const char *const *)member;
    const char *array = member;
    return column->member == COLUMN_MEMBER_ARRAY && array[0] ? array : NULL;
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
