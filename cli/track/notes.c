#include "track/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void notes_add(struct notes *notes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (notes->count < NOTES_MAX && vasprintf(&notes->lines[notes->count], format, arguments) >= 0)
        notes->count++;
    else
        notes->lines[notes->count] = NULL;
    va_end(arguments);
}

void notes_finish(struct notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->lines[i]);
    *notes = (struct notes){0};
}
