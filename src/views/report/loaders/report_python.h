/*
 * Profiles of Python in a report: files of their own (report_loader.h), and those in the folder of
 * a training profile.
 */
#pragma once

#include "views/report/document/report_session.h"

/* Adds a table of the functions of all profiles of one kind in the session's folder: of cProfile
 * where there is one, else of pyinstrument. Those that cannot be read are skipped with a warning;
 * no table without any. Errors: GPUT_ERROR_MEMORY, those of reading the folder. */
int report_python_add_functions(struct report_session *session, struct gput_error *error);
