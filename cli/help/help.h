/*
 * Help as text, made from the tables of options and commands.
 */
#pragma once

#include "commands/command.h"

#include <stdio.h>

/* The help of the whole program for the unnamed command, that of one command else. */
void help_print(FILE *file, const struct command *command);

/* The same on one screen: examples and a line for each option, of some commands for those that most
 * people use. Of the unnamed command: help_print_topics(). */
void help_print_short(FILE *file, const struct command *command);

/* All commands by what one wants, on one screen. */
void help_print_topics(FILE *file);

/* The commands of a topic, with examples. */
void help_print_topic(FILE *file, enum topic_id id);

/* The help of all commands whose first word is `family`. */
void help_print_family(FILE *file, const char *family);

/*
 * What there is help on, with a blank between two words: the topics, and the first words of all
 * commands.
 */
#define HELP_WORDS_SIZE 400
void help_words(char words[HELP_WORDS_SIZE]);

/* The help of an option, with its longer names. */
#define HELP_TEXT_SIZE 1200
void help_option_text(const struct option *option, char *text, size_t size);

/* "-o --output=<output>", at most `size` bytes. */
void help_option_usage(const struct option *option, char *buffer, size_t size);

/*
 * Text in lines that are not longer than a terminal is wide.
 */

/*
 * Writes lines of columns, which all have a line end. What does not fit goes on below the last
 * column, which begins after the last two blanks of a line. Replaces the line ends in `text`.
 */
void wrap_columns(FILE *file, char *text, int width);
