/*
 * /etc/passwd: names of users. It is read as a file: getpwuid() may ask a server over the network.
 */
#pragma once

#include "base/str.h"

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * The name of a user by the text of such a file. Users of a directory service are not in it: then
 * `claimed` (LOGNAME; may be NULL), unless that is the name of another user, else the number.
 */
void passwd_parse(const char *text, uid_t uid, const char *claimed, char *name, size_t size);

/* The same of this machine. */
void passwd_read(uid_t uid, const char *claimed, char *name, size_t size);

/* All users of such a file, for who asks for many. It is all zeroes before the first update. */
struct passwd_users {
    struct str text;
    struct passwd_user *users; /* owned; ascending by number, the first of each */
    size_t count;
    struct stat file; /* as it was when it was read */
};

/* Reads the file at `path` if it is another one than at the update before, or was changed. Where
 * that fails the users stay. The caller calls passwd_users_finish(). */
void passwd_users_update(struct passwd_users *users, const char *path);

/* The name of a user, else the number. */
void passwd_users_name(const struct passwd_users *users, uid_t uid, char *name, size_t size);

void passwd_users_finish(struct passwd_users *users);

extern const char passwd_path[]; /* of this machine */
