#include "views/output/summary_rows.h"

#include "base/screen.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

#define FIGURE_WIDTH 12
#define DETAIL_COLUMN (SUMMARY_LABEL_COLUMN + FIGURE_WIDTH + 2)
/* On narrower screens there is too little space next to the figures: what belongs to them follows
 * in lines of its own, from this column on. */
#define MIN_WIDTH_OF_DETAILS 60
#define NARROW_COLUMN 4

void summary_color(struct summary *summary, const char *escape)
{
    if (summary->options->color)
        str_append(summary->text, escape);
}

/* A number keeps its unit, or what it counts. */
static bool may_break(const char *blank)
{
    return *blank == ' ' && !strchr("0123456789", blank[-1]);
}

/* The last blank before which `columns` hold the text, counting a code point as one; that between
 * two clauses if the first fills half of them; or the first one where that is farther to the right.
 * 0: the text fits, or there is no blank. */
static size_t find_break(const char *text, size_t columns)
{
    size_t found = 0, clause = 0, column = 0;
    for (size_t i = 0; text[i]; i++) {
        if ((text[i] & 0xc0) == 0x80)
            continue;
        if (i > 0 && may_break(&text[i]) && (column <= columns || found == 0))
            found = i;
        if (found > 0 && found == i && text[i - 1] == ';')
            clause = i;
        if (++column > columns && found > 0)
            return clause > columns / 2 ? clause : found;
    }
    return 0;
}

static bool is_narrow(const struct summary *summary)
{
    return summary->options->width > 0 && summary->options->width < MIN_WIDTH_OF_DETAILS;
}

void summary_append_wrapped(struct summary *summary, const char *text, size_t column)
{
    size_t width = summary->options->width, end;
    while (width > column && (end = find_break(text, width - column)) > 0) {
        column = is_narrow(summary) ? NARROW_COLUMN : column;
        str_append_bytes(summary->text, text, end);
        str_printf(summary->text, "\n%*s", (int)column, "");
        text += end + 1;
    }
    str_append(summary->text, text);
}

void summary_row(
    struct summary *summary, const char *label, const char *figure, const char *format, ...)
{
    struct str detail = {0};
    va_list arguments;
    va_start(arguments, format);
    str_print_list(&detail, format, arguments);
    va_end(arguments);
    screen_sanitize(&detail, 0);
    /* Append a label, its figure in bold, and what belongs to it. */
    str_printf(summary->text, "  %-*s ", SUMMARY_LABEL_WIDTH, label);
    summary_color(summary, SUMMARY_BOLD);
    str_printf(summary->text, "%*s", utf8_field(figure, FIGURE_WIDTH), figure);
    summary_color(summary, SUMMARY_PLAIN);
    if (detail.length) {
        /* Append the detail of the figure. */
        const char *text = str_text(&detail);
        if (is_narrow(summary)) {
            str_printf(summary->text, "\n%*s", NARROW_COLUMN, "");
            summary_append_wrapped(summary, text, NARROW_COLUMN);
        } else {
            str_append(summary->text, "  ");
            summary_append_wrapped(summary, text, DETAIL_COLUMN);
        }
    }
    str_append_char(summary->text, '\n');
    summary->text->failed |= detail.failed;
    str_finish(&detail);
}

bool summary_fits(const struct summary *summary, struct str *detail)
{
    size_t width = summary->options->width;
    size_t column = is_narrow(summary) ? NARROW_COLUMN : DETAIL_COLUMN;
    screen_sanitize(detail, 0);
    return width == 0 || column + utf8_width(str_text(detail)) <= width;
}

void summary_row_or_shorter(struct summary *summary, const char *label, const char *figure,
    struct str *detail, struct str *shorter)
{
    bool fits = summary_fits(summary, detail);
    summary->text->failed |= detail->failed || shorter->failed;
    summary_row(summary, label, figure, "%s", str_text(fits ? detail : shorter));
    str_finish(detail);
    str_finish(shorter);
}
