/*
 * Files that the build makes from the tables of options and commands.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Writes "man", "bash", "zsh" or "fish". False for any other word. */
bool generate(FILE *file, const char *what);

void generate_man(FILE *file);
void generate_bash(FILE *file);
void generate_zsh(FILE *file);
void generate_fish(FILE *file);
