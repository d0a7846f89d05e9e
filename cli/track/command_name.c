#include "track/command_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

static bool is_regular_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

struct command_name command_name_of(const char *const *command)
{
    struct command_name name = {{NULL}};
    if (!command || !command[0])
        return name;
    name.words[0] = command[0];
    if (command[1] && is_regular_file(command[1]))
        name.words[1] = command[1];
    return name;
}
