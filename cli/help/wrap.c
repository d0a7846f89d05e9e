#include "help/wrap.h"

#include <stdbool.h>
#include <string.h>

void wrap_text(FILE *file, const char *text, int column, int indent, int width)
{
    bool begins = true; /* no word is on this line yet */
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + !begins + length > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (!begins) {
            fputc(' ', file);
            column++;
        }
        begins = false;
        fprintf(file, "%.*s", length, text);
        column += length;
        text += length;
        if (*text == '\n') {
            fprintf(file, "\n%*s", text[1] && text[1] != '\n' ? indent : 0, "");
            column = indent;
            begins = true;
        }
        text += *text != '\0';
    }
    fputc('\n', file);
}

/* Where the last column of a line begins. */
static int last_column(const char *line)
{
    int column = 0;
    for (int i = 2; line[0] && line[1] && line[i]; i++) {
        if (line[i - 2] == ' ' && line[i - 1] == ' ' && line[i] != ' ')
            column = i;
    }
    return column;
}

void wrap_columns(FILE *file, char *text, int width)
{
    for (char *line; (line = strsep(&text, "\n")) && text;) {
        int column = last_column(line);
        fprintf(file, "%.*s", column, line);
        wrap_text(file, line + column, column, column, width);
    }
}
