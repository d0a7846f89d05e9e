/*
 * Text in lines that are not longer than a terminal is wide.
 */
#pragma once

#include <stdio.h>

/*
 * Writes a text and a line end, in lines of at most `width` columns, each but the first indented by
 * `indent` blanks; the first begins at column `column`. Line ends of the text are kept. Words that
 * are longer than a line stay whole.
 */
void wrap_text(FILE *file, const char *text, int column, int indent, int width);

/*
 * Writes lines of columns, which all have a line end. What does not fit goes on below the last
 * column, which begins after the last two blanks of a line. Replaces the line ends in `text`.
 */
void wrap_columns(FILE *file, char *text, int width);
