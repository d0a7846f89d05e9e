#include "files/marks/block_path.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool block_path_has_process_id(const char *pattern)
{
    for (; *pattern; pattern++) {
        if (pattern[0] == '%' && pattern[1] == 'p')
            return true;
        pattern += pattern[0] == '%' && pattern[1] == '%';
    }
    return false;
}

char *block_path_with_process_id(const char *path, pid_t process_id, unsigned number)
{
    const char *slash = strrchr(path, '/');
    const char *extension = strrchr(slash ? slash : path, '.');
    if (!extension)
        extension = path + strlen(path);
    struct str text = {0};
    str_append_bytes(&text, path, (size_t)(extension - path));
    str_printf(&text, "-%ld", (long)process_id);
    if (number > 0)
        str_printf(&text, "-%u", number);
    str_append(&text, extension);
    return str_steal(&text);
}

char *block_path_absolute(const char *path)
{
    if (path[0] == '/')
        return strdup(path);
    char *folder = getcwd(NULL, 0);
    if (!folder) /* the working directory was removed or cannot be reached: use the path unchanged
                  */
        return strdup(path);
    struct str text = {0};
    str_printf(&text, "%s/%s", folder, path);
    free(folder);
    return str_steal(&text);
}
