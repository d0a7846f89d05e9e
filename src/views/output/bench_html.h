/*
 * The result of a benchmark as a page that needs no other file: each run as a point in its order,
 * means with their intervals, what disturbed runs, and the curves of a parameter.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

void bench_html(const struct doc *document, struct str *text);
