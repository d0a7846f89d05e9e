#include "commands/suggest.h"

#include "base/nearest.h"
#include "commands/command.h"

#include <stdio.h>
#include <string.h>

/* Words that other programs have for what a command does. */
static const struct synonym {
    const char *words, *meant;
} synonyms[] = {
    {"exec execute start track launch measure time", "run"},
    {"pid join follow", "attach"},
    {"watch monitor top view tui", "live"},
    {"check info status sources", "doctor"},
    {"gpu cards card smi nvidia-smi", "gpus"},
    {"diff cmp", "compare"},
    {"html page export", "report"},
    {"graph chart draw svg", "plot"},
    {"metrics prometheus exporter listen", "serve"},
    {"send upload", "push"},
    {"rank ranks nodes stats", "job"},
    {"list past sessions", "history"},
    {"version", "--version"},
    {"man manual usage docs", "help"},
    {"record power joules watts", "energy record"},
    {"trace traces", "pytorch breakdown or timeline merge"},
    {NULL, NULL},
};

/* The same of second words. */
static const struct synonym second_synonyms[] = {
    {"diff cmp", "compare"},
    {"report show total", "summary"},
    {"plot draw graph", "curve"},
    {"begin", "start"},
    {"end", "stop"},
    {NULL, NULL},
};

/* What a word stands for; NULL: nothing. */
static const char *find_synonym(const struct synonym *row, const char *word)
{
    while (row->words && choice_find(row->words, word) < 0)
        row++;
    return row->meant;
}

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

void suggest_command(const char *words, const char *word, char text[NEAREST_QUESTION_SIZE])
{
    char seconds[512], near[GPUT_NEAREST_SIZE], names[GPUT_NEAREST_SIZE];
    const char *meant = find_synonym(synonyms, word);
    snprintf(names, sizeof names, "%s", meant ? meant : "");
    if (!meant)
        gput_nearest_words(words, word, names);
    if (!names[0]) {
        list_second_words(NULL, seconds, sizeof seconds);
        gput_nearest_words(seconds, word, near);
        near[strcspn(near, " ")] = '\0';
        list_names_with(near[0] ? near : " ", names);
    }
    nearest_question_of(names, text);
}

void suggest_of_family(const char *family, const char *word, char text[NEAREST_QUESTION_SIZE])
{
    char seconds[512], near[GPUT_NEAREST_SIZE];
    list_second_words(family, seconds, sizeof seconds);
    const char *meant = find_synonym(second_synonyms, word);
    snprintf(near, sizeof near, "%s", meant ? meant : "");
    if (!meant || choice_find(seconds, meant) < 0)
        gput_nearest_words(seconds, word, near);
    snprintf(text, NEAREST_QUESTION_SIZE, near[0] ? " Did you mean %s?" : "", near);
}
