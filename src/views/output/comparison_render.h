/*
 * The forms a comparison is written in; one source file each.
 */
#pragma once

#include "base/str.h"
#include "views/output/comparison_walk.h"

/* Each appends the whole comparison; without memory `text` turns failed. */
void comparison_write_text(const struct comparison_report *report, struct str *text);
void comparison_write_json(const struct comparison_report *report, struct str *text);
void comparison_write_pickle(const struct comparison_report *report, struct str *text);
