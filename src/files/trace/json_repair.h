/*
 * Reads JSON with backslashes that escape nothing, and with tabs and line ends within strings. Some
 * programs write it so, because they put paths of Windows and other texts between quotes unchanged.
 */
#pragma once

#include "base/json_scan.h"
#include "base/str.h"

/* Scans the value that begins at `*at`, and moves `*at` after it, as json_scan_value() does. */
typedef enum json_status json_scan_function(void *user, const char **at, const char *end);

/*
 * Scans a copy in which these are escaped. The results point into the copy, which is valid until
 * the next call. `*at` is moved after the value if the status is JSON_OK. Returns JSON_BAD also
 * without memory.
 */
enum json_status json_repair_scan(
    struct str *copy, const char **at, const char *end, json_scan_function *scan, void *user);
