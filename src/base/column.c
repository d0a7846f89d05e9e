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
        if (column->hides_zero && number == 0)
            continue;
        if (text)
            doc_add_string(object, column->name, text);
        else if (column->type == GPUT_COLUMN_INT && !isnan(number))
            doc_add_int(object, column->name, (int64_t)number);
        else
            doc_add_double(object, column->name, number);
    }
}

const struct column *columns_read_doc(
    const struct column *columns, size_t count, const struct doc *object, void *item)
{
    const struct column *missing = NULL;
    for (const struct column *column = columns; column < columns + count; column++) {
        void *member = (char *)item + column->offset;
        const struct doc *value = doc_get(object, column->name);
        bool is_count = value && value->kind == DOC_INT && value->integer >= 0;
        switch (column->member) {
        case COLUMN_MEMBER_DOUBLE:
            *(double *)member = doc_number(value);
            is_count = !isnan(doc_number(value));
            break;
        case COLUMN_MEMBER_BOOL:
            *(bool *)member = is_count && value->integer > 0;
            break;
        case COLUMN_MEMBER_INT:
            *(int *)member = is_count ? (int)value->integer : 0;
            break;
        case COLUMN_MEMBER_LONG:
            *(long *)member = is_count ? value->integer : 0;
            break;
        case COLUMN_MEMBER_UNSIGNED_LONG:
            *(unsigned long *)member = is_count ? (unsigned long)value->integer : 0;
            break;
        default: /* texts are not read */
            break;
        }
        if (column->is_required && !is_count && !missing)
            missing = column;
    }
    return missing;
}
