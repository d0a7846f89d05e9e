/*
 * /etc/passwd: names of users. It is read as a file: getpwuid() may ask a server over the network.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * The name of a user by the text of such a file. Users of a directory service are not in it: then
 * `claimed` (LOGNAME; may be NULL), unless that is the name of another user, else the number.
 */
void passwd_parse(const char *text, uid_t uid, const char *claimed, char *name, size_t size);

/* The same of this machine. */
void passwd_read(uid_t uid, const char *claimed, char *name, size_t size);
