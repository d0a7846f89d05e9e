#include "suggest.h"

#include "command.h"

#include <stdio.h>
#include <string.h>

/* "" where the name is one word. */
static const char *second_word(const struct command *command)
{
    const char *blank = strchr(command->name, ' ');
    return blank ? blank + 1 : "";
}

/* The second words of the commands of a family, of all commands where it is NULL. */
static void list_second_words(const char *family, char *list, size_t size)
{
    int count;
    const struct command *commands = command_table(&count);
    list[0] = '\0';
    for (int i = 0; i < count; i++) {
        const char *word = second_word(&commands[i]);
        size_t used = strlen(list);
        if (word[0] && (!family || command_is_of_family(&commands[i], family)))
            snprintf(list + used, size - used, "%s%s", used ? " " : "", word);
    }
}

/* The names of at most two commands that end with this word: "energy summary or profile summary".
 */
static void list_names_with(const char *word, char text[GPUT_NEAREST_SIZE])
{
    int count, found = 0;
    const struct command *commands = command_table(&count);
    text[0] = '\0';
    for (int i = 0; i < count && found < 2; i++) {
        size_t used = strlen(text);
        if (strcmp(second_word(&commands[i]), word) == 0)
            snprintf(text + used, GPUT_NEAREST_SIZE - used, "%s%s", found++ ? " or " : "",
                commands[i].name);
    }
}

void suggest_command(const char *words, const char *word, char text[CHOICE_QUESTION_SIZE])
{
    char seconds[512], near[GPUT_NEAREST_SIZE], names[GPUT_NEAREST_SIZE];
    gput_nearest_words(words, word, names);
    if (!names[0]) {
        list_second_words(NULL, seconds, sizeof seconds);
        gput_nearest_words(seconds, word, near);
        near[strcspn(near, " ")] = '\0';
        list_names_with(near[0] ? near : " ", names);
    }
    choice_question(names, text);
}

void suggest_of_family(const char *family, const char *word, char text[CHOICE_QUESTION_SIZE])
{
    char seconds[512], near[GPUT_NEAREST_SIZE];
    list_second_words(family, seconds, sizeof seconds);
    gput_nearest_words(seconds, word, near);
    snprintf(text, CHOICE_QUESTION_SIZE, near[0] ? " Did you mean %s?" : "", near);
}
