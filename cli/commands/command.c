#include "commands/command.h"

#include <stddef.h>
#include <string.h>

const struct command *command_find(const char *name)
{
    int count;
    const struct command *commands = command_table(&count);
    for (int i = 0; i < count; i++) {
        const char *older = commands[i].older_name;
        if (strcmp(commands[i].name, name) == 0 || (older && strcmp(older, name) == 0))
            return &commands[i];
    }
    return NULL;
}

static bool begins_with_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && name[length] == ' ';
}

bool command_is_of_family(const struct command *command, const char *family)
{
    return begins_with_word(command->name, family);
}

bool command_was_of_family(const struct command *command, const char *family)
{
    return command->older_name && begins_with_word(command->older_name, family);
}
