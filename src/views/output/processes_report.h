/*
 * The processes of a session for people and programs.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

#include "model/processes.h"
#include "model/results.h"

/* Adds the members "processes" and "other_processes" to a report. */
void processes_report_add(struct doc *report, const struct gput_processes *processes);

/* Appends them as a tree, a line each with figures before it; in units that fit where `options`
 * (may be NULL) say so. */
void processes_report_write_tree(const struct gput_processes *processes,
    const struct gput_results_render_options *options, struct str *text);

/* The same for a summary: each figure in a unit that fits it, and at most 20 processes, those with
 * the most CPU time or RAM with their parents; a line says how many more there are. On a screen of
 * so many columns (0: any number) columns are narrower, names cut, and what has no space left out;
 * a line says what. */
void processes_report_write_summary(
    const struct gput_processes *processes, size_t screen, struct str *text);
