#include "formats/spool_note.h"

#include "base/file.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES (PATH_MAX + 512)

bool spool_note_read(const char *path, struct spool_note *note)
{
    struct str text = {0};
    *note = (struct spool_note){0};
    bool is_read =
        file_read_regular(path, MAX_BYTES, &text, NULL) == GPUT_OK &&
        sscanf(str_text(&text), "host %64[^\n]\nfolder %4095[^\n]", note->host, note->folder) == 2;
    str_finish(&text);
    return is_read;
}

bool spool_note_is_of_this_host(const struct spool_note *note)
{
    char host[sizeof note->host] = "";
    return gethostname(host, sizeof host - 1) == 0 && strcmp(note->host, host) == 0;
}
