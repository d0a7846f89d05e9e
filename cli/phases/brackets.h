/* Bracket expressions in POSIX regular expressions: "[^a-z[:digit:]]". */
#pragma once

/* Returns the end of the bracket expression that begins at `at`. */
const char *brackets_skip(const char *at);
