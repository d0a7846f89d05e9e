/* A text packed by gzip, as bodies of requests are. */
#pragma once

#include "base/str.h"

/* Replaces the text. Errors: GPUT_ERROR_MEMORY, with the text as before. */
int gzip_compress(struct str *text, struct gput_error *error);
