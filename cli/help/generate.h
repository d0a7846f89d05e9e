/*
 * Files that the build makes from the tables of options and commands.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes "man", "man-WORD" (the page of the commands that begin with the word), "bash", "zsh" or
 * "fish". False for any other. */
bool generate(FILE *file, const char *what);

void generate_man(FILE *file);
bool generate_man_of(FILE *file, const char *family);
void generate_bash(FILE *file);
void generate_zsh(FILE *file);
void generate_fish(FILE *file);
