#include "os/passwd.h"

#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "os/scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)

/* "name:password:uid:…" */
struct user {
    const char *name; /* not terminated */
    size_t length;
    uint64_t uid;
};

static bool parse_line(const struct scan_line *line, struct user *user)
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
    struct user user;
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
    file_read_bounded("/etc/passwd", MAX_BYTES, &text, NULL);
    passwd_parse(str_text(&text), uid, claimed, name, size);
    str_finish(&text);
}
