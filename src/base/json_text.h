/*
 * JSON strings to text and back, always as UTF-8.
 */
#pragma once

#include "base/json_scan.h"
#include "base/str.h"

/*
 * Appends a string's text with its escapes resolved. Lone surrogates, NUL and bytes that are
 * not UTF-8 become U+FFFD.
 */
void json_append_string(const struct json_value *string, struct str *text);

/* Appends a scanned value as strict JSON on one line: NaN becomes null, broken UTF-8 U+FFFD. */
void json_write_value(const struct json_value *value, struct str *text);
