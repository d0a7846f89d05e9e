#include "files/spool_note.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_BYTES (PATH_MAX + 512)
#define MAX_FILES 8 /* of a session */

bool spool_note_read(const char *path, struct spool_note *note)
{
    CLEANUP_STR struct str text = {0};
    *note = (struct spool_note){0};
    return file_read_regular(path, MAX_BYTES, &text, NULL) == GPUT_OK &&
           sscanf(str_text(&text), "host %64[^\n]\nfolder %4095[^\n]", note->host, note->folder) ==
               2;
}

bool spool_note_is_of_this_host(const struct spool_note *note)
{
    char host[sizeof note->host] = "";
    return gethostname(host, sizeof host - 1) == 0 && strcmp(note->host, host) == 0;
}

bool spool_note_of(const char *path, struct spool_note *note)
{
    struct stat info;
    CLEANUP_STR struct str name = {0};
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > 0)
        return false;
    str_printf(&name, "%s" SPOOL_NOTE_EXTENSION, path);
    return !name.failed && spool_note_read(name.data, note);
}

bool spool_note_find(const struct spool_note *note, const char *path, char found[PATH_MAX])
{
    struct stat info;
    if (!spool_note_is_of_this_host(note) || note->folder[0] != '/')
        return false;
    for (int number = 0; number < MAX_FILES; number++) { /* each has a folder of its own */
        int length =
            snprintf(found, PATH_MAX, "%s/%d/%s", note->folder, number, file_base_name(path));
        if (length < PATH_MAX && stat(found, &info) == 0 && S_ISREG(info.st_mode) &&
            info.st_size > 0)
            return true;
    }
    return false;
}
