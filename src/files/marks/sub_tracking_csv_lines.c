#include "files/marks/sub_tracking_csv_lines.h"

#include "files/marks/sub_tracking_csv_row.h"
#include "files/marks/sub_tracking_lost.h"

#include <string.h>

/* Whether it names a block, rather than lost calls or a label. At a NUL a name would end. */
static bool is_block(struct csv_lines *lines, const struct csv_cell *name)
{
    const struct csv_cell *last = &lines->name;
    struct sub_tracking_lost lost;
    struct sub_tracking_label label;
    if (last->text && last->length == name->length &&
        memcmp(last->text, name->text, name->length) == 0)
        return true;
    if (memchr(name->text, '\0', name->length) ||
        sub_tracking_lost_parse(name->text, name->length, &lost) ||
        sub_tracking_label_parse(name->text, name->length, &label))
        return false;
    lines->name = *name;
    return true;
}

/* Adds the line at `*at` and moves after it. False: it is not a plain one. */
static bool add_line(struct csv_lines *lines, const char **at)
{
    const struct csv_line_layouts *layouts = lines->window.user;
    struct sub_tracking_mark row;
    struct csv_cell name = {0};
    char *line = (char *)*at; /* without quotes it is not changed */
    char *line_end = memchr(line, '\n', (size_t)(lines->window.end - line));
    if (!line_end || memchr(line, '"', (size_t)(line_end - line)))
        return false;
    char *end = line_end > line && line_end[-1] == '\r' ? line_end - 1 : line_end;
    int field = sub_tracking_csv_row_parse(layouts->from, line, end, &row, &name);
    if (field != SUB_TRACKING_CSV_ROW_FINE || !is_block(lines, &name))
        return false;
    sub_tracking_csv_append_row(&lines->text, layouts->to, &row, name.text, name.length);
    lines->rows++;
    *at = line_end + 1;
    return true;
}

static void scan(struct file_window *base)
{
    struct csv_lines *lines = (struct csv_lines *)base;
    const char *at = file_window_line(base);
    str_clear(&lines->text);
    lines->rows = 0;
    lines->name = (struct csv_cell){0};
    base->after = at;
    while (base->after && base->after < base->limit && add_line(lines, &base->after))
        ;
    base->first = lines->rows > 0 && !lines->text.failed ? at : NULL;
}

static void finish(struct file_window *base)
{
    str_finish(&((struct csv_lines *)base)->text);
}

const struct file_window_class csv_line_windows = {sizeof(struct csv_lines), scan, finish};
