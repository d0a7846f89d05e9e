/*
 * What a program asks of a terminal for the letters that follow (SGR, ECMA-48): as a style of the
 * grid, which has the sixteen colours that every terminal has.
 */
#pragma once

/* The style after the parameters of such a sequence: "1;31", "38;5;208", "" … What a grid does not
 * have (backgrounds, underlines) changes nothing. */
unsigned text_style_apply(unsigned style, const char *parameters);
