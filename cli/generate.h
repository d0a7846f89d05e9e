/*
 * Files that the build makes from the tables of options and commands.
 */
#ifndef CLI_GENERATE_H
#define CLI_GENERATE_H

#include <stdbool.h>
#include <stdio.h>

/* Writes "man", "bash", "zsh" or "fish". False for any other word. */
bool generate(FILE *file, const char *what);

void generate_man(FILE *file);
void generate_bash(FILE *file);
void generate_zsh(FILE *file);
void generate_fish(FILE *file);

#endif
