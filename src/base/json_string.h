/*
 * A text as a JSON string that stays readable: characters beyond ASCII are left as they are.
 * (Documents, doc.h, are written as Python's json.dumps() does, which escapes them.)
 */
#ifndef BASE_JSON_STRING_H
#define BASE_JSON_STRING_H

#include "base/str.h"

/* Appends `length` bytes of text as a JSON string with its quotes; broken UTF-8 as U+FFFD. */
void json_write_string(const char *bytes, size_t length, struct str *text);

#endif
