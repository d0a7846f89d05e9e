#include "machine/os/passwd.h"

#include "base/array.h"
#include "base/file.h"
#include "base/order.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/os/scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)

const char passwd_path[] = "/etc/passwd";

/* "name:password:uid:…" */
struct passwd_user {
    const char *name; /* not terminated */
    size_t length;
    uint64_t uid;
};

/* Parses the name and the id of a user. */
static bool parse_line(const struct scan_line *line, struct passwd_user *user)
{
    const char *first = memchr(line->start, ':', (size_t)(line->end - line->start));
    const char *second = first ? memchr(first + 1, ':', (size_t)(line->end - first - 1)) : NULL;
    const char *after = second ? scan_uint64(second + 1, &user->uid) : NULL;
    user->name = line->start;
    user->length = first ? (size_t)(first - line->start) : 0;
    return after && after < line->end && *after == ':' && user->length > 0;
}

void passwd_parse(const char *text, uid_t uid, const char *claimed, char *name, size_t size)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    struct passwd_user user;
    bool is_of_another = !claimed || !*claimed;
    while (scan_next_line(&text, end, &line)) {
        if (!parse_line(&line, &user))
            continue;
        if (user.uid == uid) {
            text_fit(name, size, "%.*s", (int)user.length, user.name);
            return;
        }
        is_of_another |= claimed && strlen(claimed) == user.length &&
                         memcmp(claimed, user.name, user.length) == 0;
    }
    if (is_of_another)
        text_fit(name, size, "%u", (unsigned)uid);
    else
        text_fit(name, size, "%s", claimed);
}

void passwd_read(uid_t uid, const char *claimed, char *name, size_t size)
{
    struct str text = {0};
    file_read_bounded(passwd_path, MAX_BYTES, &text, NULL);
    passwd_parse(str_text(&text), uid, claimed, name, size);
    str_finish(&text);
}

/* ---- all users ---- */

/* Orders users by number; the first of several with one number gives the name. */
static int by_uid(const void *left, const void *right)
{
    const struct passwd_user *a = left, *b = right;
    ORDER_BY(a->uid, b->uid);
    return ORDER(a->name, b->name);
}

/* Finds all users in the text. False: out of memory. */
static bool find_users(const struct str *text, struct passwd_users *users)
{
    const char *start = str_text(text), *end = start + text->length;
    struct scan_line line;
    struct passwd_user user;
    while (scan_next_line(&start, end, &line)) {
        if (!parse_line(&line, &user))
            continue;
        if (!ARRAY_EXTEND(users->users, users->count))
            return false;
        users->users[users->count++] = user;
    }
    if (users->count > 0)
        qsort(users->users, users->count, sizeof user, by_uid);
    return true;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

void passwd_users_update(struct passwd_users *users, const char *path)
{
    struct passwd_users fresh = {0};
    /* Before it is read: what changes meanwhile is read again. */
    if (stat(path, &fresh.file) != 0 || is_same_file(&fresh.file, &users->file))
        return;
    if (file_read_bounded(path, MAX_BYTES, &fresh.text, NULL) == GPUT_OK &&
        find_users(&fresh.text, &fresh)) {
        passwd_users_finish(users);
        *users = fresh;
    } else {
        passwd_users_finish(&fresh);
    }
}

void passwd_users_name(const struct passwd_users *users, uid_t uid, char *name, size_t size)
{
    size_t at;
    PARTITION_POINT(at, users->count, users->users[at].uid < uid);
    if (at < users->count && users->users[at].uid == uid)
        text_fit(name, size, "%.*s", (int)users->users[at].length, users->users[at].name);
    else
        text_fit(name, size, "%u", (unsigned)uid);
}

void passwd_users_finish(struct passwd_users *users)
{
    str_finish(&users->text);
    free(users->users);
    *users = (struct passwd_users){0};
}
