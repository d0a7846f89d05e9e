/*
 * Texts as JSON strings, with their quotes. What is not UTF-8 becomes U+FFFD.
 */
#pragma once

#include "base/str.h"

/* Appends `length` bytes of text so that it stays readable: characters beyond ASCII as they are. */
void json_write_string(const char *bytes, size_t length, struct str *text);

/* The same as Python's json.dumps() writes it: characters beyond ASCII escaped. */
void json_write_ascii_string(const char *bytes, size_t length, struct str *text);
