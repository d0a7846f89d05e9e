#include "views/output/table_text.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/table.h"
#include "base/text.h"
#include "base/utf8.h"

#include <ctype.h>
#include <string.h>

#define DECIMALS 3 /* JSON and CSV have all digits */
#define WIDEST_COLUMN 256
#define GAP 2
/* Texts are not cut to less than this: all columns side by side, and in blocks. */
#define MIN_TEXT 12
#define MIN_TEXT_OF_BLOCKS 16

/* Columns of a table with the widths that they are shown in. */
struct grid {
    const struct gput_table *table;
    size_t columns, n_keys; /* keys: the first columns, which each block has */
    size_t widths[TABLE_TEXT_COLUMNS];
};

/* ---- Cells ---- */

/* Appends a name, which may come from anywhere: what would move a terminal's cursor is shown as
 * "\\x1b". */
static void append_visible(struct str *text, const char *value)
{
    for (; *value; value++) {
        unsigned char byte = (unsigned char)*value;
        if (byte < 0x20 || byte == 0x7f)
            str_printf(text, "\\x%02x", byte);
        else
            str_append_char(text, *value);
    }
}

/* "duration max, µs" of "duration_max_us", where the names are another program's. */
static void append_name(struct str *text, const struct gput_table *table, const char *name)
{
    bool has_unit = text_ends_with(name, "_us");
    if (!table_words(table)) {
        str_append(text, name);
        return;
    }
    size_t length = strlen(name) - (has_unit ? strlen("_us") : 0);
    for (size_t i = 0; i < length; i++)
        str_append_char(text, name[i] == '_' && i > 0 ? ' ' : name[i]);
    str_append(text, has_unit ? ", µs" : "");
}

void table_text_name(const struct gput_table *table, struct str *text)
{
    size_t start = text->length;
    append_name(text, table, gput_table_name(table));
    if (table_words(table) && !text->failed && text->length > start)
        text->data[start] = (char)toupper((unsigned char)text->data[start]);
}

static void append_column_name(struct str *text, const struct gput_table *table, size_t column)
{
    append_name(text, table, gput_table_column_name(table, column));
}

/* Whether a cell has the value by which another program says that it did not record it. */
static bool is_not_recorded(const struct gput_table *table, size_t row, size_t column)
{
    const struct table_words *words = table_words(table);
    enum gput_column_type type = gput_table_column_type(table, column);
    if (!words || type == GPUT_COLUMN_DOUBLE)
        return false;
    return type == GPUT_COLUMN_INT
               ? gput_table_int(table, row, column) < 0 &&
                     !text_ends_with(gput_table_column_name(table, column), "_us")
               : strcmp(gput_table_text(table, row, column), words->not_recorded) == 0;
}

/* Appends a text, without what all names of another program have: "Between EVAL and TRAIN" of
 * "Between Step:ModeKeys.EVAL and Step:ModeKeys.TRAIN". */
static void append_text(struct str *text, const struct gput_table *table, const char *value)
{
    const char *left_out = table_words(table) ? table_words(table)->left_out : NULL, *found;
    CLEANUP_STR struct str kept = {0};
    for (; left_out && (found = strstr(value, left_out)); value = found + strlen(left_out))
        str_append_bytes(&kept, value, (size_t)(found - value));
    str_append(&kept, value);
    append_visible(text, str_text(&kept));
    text->failed |= kept.failed;
}

/* Appends a cell, numbers rounded to three decimals. */
static void append_cell(struct str *text, const struct gput_table *table, size_t row, size_t column)
{
    char number[NUMBER_TEXT_SIZE];
    enum gput_column_type type = gput_table_column_type(table, column);
    if (gput_table_is_missing(table, row, column)) {
        str_append(text, "n/a");
    } else if (is_not_recorded(table, row, column)) {
        str_append(text, "not recorded");
    } else if (type == GPUT_COLUMN_TEXT) {
        append_text(text, table, gput_table_text(table, row, column));
    } else if (type == GPUT_COLUMN_INT) {
        str_append_int64(text, gput_table_int(table, row, column));
    } else {
        double value = gput_table_double(table, row, column);
        str_append_bytes(text, number, number_format_rounded(value, DECIMALS, number));
    }
}

/* The columns of a terminal that a column takes, at most WIDEST_COLUMN. */
static size_t column_width(const struct gput_table *table, size_t column, struct str *scratch)
{
    str_clear(scratch);
    append_column_name(scratch, table, column);
    size_t width = utf8_width(str_text(scratch));
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        str_clear(scratch);
        append_cell(scratch, table, row, column);
        size_t needed = utf8_width(str_text(scratch));
        width = needed > width ? needed : width;
    }
    return width < WIDEST_COLUMN ? width : WIDEST_COLUMN;
}

/* ---- The widths on a screen ---- */

/* Returns the width of columns from `first` to before `end`, with the gaps between them. */
static size_t width_of(const struct grid *grid, size_t first, size_t end)
{
    size_t width = 0;
    for (size_t column = first; column < end; column++)
        width += grid->widths[column] + (column > first ? GAP : 0);
    return width;
}

/* Times and addresses, which begin with a digit, say nothing when they are cut. */
static bool may_be_cut(const struct gput_table *table, size_t column)
{
    if (gput_table_column_type(table, column) != GPUT_COLUMN_TEXT)
        return false;
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        const char *text = gput_table_text(table, row, column);
        if (text && isdigit((unsigned char)text[0]))
            return false;
    }
    return true;
}

/* Cuts the texts of the first `end` columns until these fit, the widest first. */
static void cut_texts(struct grid *grid, size_t end, size_t least, size_t screen)
{
    for (size_t width = width_of(grid, 0, end); width > screen; width--) {
        size_t widest = end;
        for (size_t column = 0; column < end; column++)
            if (grid->widths[column] > least && may_be_cut(grid->table, column) &&
                (widest == end || grid->widths[column] > grid->widths[widest]))
                widest = column;
        if (widest == end)
            return;
        grid->widths[widest]--;
    }
}

/* Chooses widths for a screen. Returns whether all columns fit side by side. */
static bool fit(struct grid *grid, const size_t *widths, size_t screen)
{
    memcpy(grid->widths, widths, sizeof grid->widths);
    if (screen == 0)
        return true;
    cut_texts(grid, grid->columns, MIN_TEXT, screen);
    if (width_of(grid, 0, grid->columns) <= screen)
        return true;
    memcpy(grid->widths, widths, sizeof grid->widths);
    /* Choose widths for several blocks of columns. Each repeats the keys: texts and the integers
     * next to them, on at most half of the screen. */
    size_t texts = 0, n_keys = 0;
    for (; n_keys < grid->columns &&
           gput_table_column_type(grid->table, n_keys) != GPUT_COLUMN_DOUBLE;
         n_keys++)
        if (gput_table_column_type(grid->table, n_keys) == GPUT_COLUMN_TEXT)
            texts = n_keys + 1;
    cut_texts(grid, n_keys, MIN_TEXT_OF_BLOCKS, screen / 3);
    size_t least = texts > 1 && width_of(grid, 0, texts) <= screen / 2 ? texts : 1;
    while (n_keys > least && width_of(grid, 0, n_keys) > screen / 2)
        n_keys--;
    memcpy(grid->widths, widths, sizeof grid->widths);
    cut_texts(grid, n_keys, MIN_TEXT_OF_BLOCKS, screen / 3);
    size_t used = width_of(grid, 0, n_keys) + GAP;
    size_t left = screen > used + MIN_TEXT ? screen - used : MIN_TEXT;
    for (size_t column = n_keys; column < grid->columns; column++)
        if (grid->widths[column] > left && may_be_cut(grid->table, column))
            grid->widths[column] = left;
    grid->n_keys = n_keys;
    return false;
}

/* ---- Lines ---- */

/* The bytes that so many characters of a text take. */
static size_t bytes_of(const char *text, size_t characters)
{
    size_t at = 0;
    for (; text[at]; at++)
        if ((text[at] & 0xc0) != 0x80 && characters-- == 0)
            break;
    return at;
}

/* Appends a cell, cut in the middle where it is too wide ("tests/f…nk0.json"), and the gap after
 * it. Nothing trails at the end of a line. */
static void append_aligned(
    const struct grid *grid, size_t column, const char *value, bool last, struct str *out)
{
    bool is_text = gput_table_column_type(grid->table, column) == GPUT_COLUMN_TEXT;
    size_t width = grid->widths[column], used = utf8_width(value);
    size_t blanks = used < width ? width - used : 0;
    if (!is_text)
        str_append_repeated(out, ' ', blanks);
    if (used > width && width < WIDEST_COLUMN) {
        size_t end = width / 2, begin = width - 1 - end;
        str_append_bytes(out, value, bytes_of(value, begin));
        str_append(out, "…");
        str_append(out, value + bytes_of(value, used - end));
    } else {
        str_append(out, value);
    }
    if (is_text && !last)
        str_append_repeated(out, ' ', blanks);
    str_append(out, last ? "\n" : "  ");
}

#define HEAD SIZE_MAX

/* Appends cells of a row, or the names of their columns. */
static void append_cells(
    const struct grid *grid, size_t row, size_t first, size_t end, bool is_end, struct str *out)
{
    CLEANUP_STR struct str cell = {0};
    for (size_t column = first; column < end; column++) {
        str_clear(&cell);
        if (row == HEAD)
            append_column_name(&cell, grid->table, column);
        else
            append_cell(&cell, grid->table, row, column);
        append_aligned(grid, column, str_text(&cell), is_end && column + 1 == end, out);
    }
    out->failed |= cell.failed;
}

/* Appends those columns of all rows, after the keys. */
static void append_rows(
    const struct grid *grid, size_t first, size_t end, bool with_head, struct str *out)
{
    size_t rows = gput_table_row_count(grid->table);
    for (size_t line = with_head ? 0 : 1; line <= rows; line++) {
        size_t row = line == 0 ? HEAD : line - 1;
        append_cells(grid, row, 0, grid->n_keys, false, out);
        append_cells(grid, row, first, end, true, out);
    }
}

/* Appends the columns in as many blocks as they need: of each those that fit next to the keys, at
 * least one. */
static void append_blocks(const struct grid *grid, size_t screen, struct str *out)
{
    size_t of_keys = width_of(grid, 0, grid->n_keys) + (grid->n_keys > 0 ? GAP : 0);
    for (size_t first = grid->n_keys, end; first < grid->columns; first = end) {
        end = first + 1;
        while (end < grid->columns && of_keys + width_of(grid, first, end + 1) <= screen)
            end++;
        str_append(out, first > grid->n_keys ? "\n" : "");
        append_rows(grid, first, end, true, out);
    }
}

void table_text_add(
    struct table_text *layout, const struct gput_table *part, bool first, struct str *out)
{
    CLEANUP_STR struct str scratch = {0};
    struct grid grid = {.table = part, .columns = gput_table_column_count(part)};
    if (grid.columns > TABLE_TEXT_COLUMNS)
        grid.columns = TABLE_TEXT_COLUMNS;
    if (first)
        memset(layout->widths, 0, sizeof layout->widths);
    for (size_t column = 0; column < grid.columns; column++) {
        size_t width = column_width(part, column, &scratch);
        layout->widths[column] = width > layout->widths[column] ? width : layout->widths[column];
    }
    out->failed |= scratch.failed;
    if (fit(&grid, layout->widths, layout->screen))
        append_rows(&grid, 0, grid.columns, first, out);
    else
        append_blocks(&grid, layout->screen, out);
}

void table_text_add_record(const struct gput_table *table, struct str *out)
{
    for (size_t column = 0; column < gput_table_column_count(table); column++) {
        append_column_name(out, table, column);
        str_append(out, ": ");
        append_cell(out, table, 0, column);
        str_append_char(out, '\n');
    }
}
