/*
 * The processes of a session for people and programs.
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

#include "model/processes.h"

/* Adds the members "processes" and "other_processes" to a report. */
void processes_report_add(struct doc *report, const struct gput_processes *processes);

/* Appends them as a tree, a line each with figures before it. */
void processes_report_write_tree(const struct gput_processes *processes, struct str *text);
