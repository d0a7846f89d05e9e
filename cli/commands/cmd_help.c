/* gpu-tracker help: the commands by topic, a topic, a family of commands, or one command. */
#include "base/error.h"
#include "base/nearest.h"
#include "command.h"
#include "commands/command.h"
#include "common/message.h"
#include "help/help.h"
#include "options/arguments.h"

#include <stdio.h>
#include <stdlib.h>

/* Whether any command has two words, of which the first is this. */
static bool is_family(const char *word)
{
    int count;
    const struct command *commands = command_table(&count);
    bool found = false;
    for (int i = 0; i < count; i++)
        found |= command_is_of_family(&commands[i], word);
    return found;
}

static int refuse(const char *word, struct gput_error *error)
{
    char list[HELP_WORDS_SIZE], question[NEAREST_QUESTION_SIZE];
    help_words(list);
    suggest_command(list, word, question);
    return error_set(error, GPUT_ERROR_INVALID,
        "There is no help on \"%.64s\"%s Topics and commands: %s", word, question, list);
}

/* Prints the help of a topic, command or family, or the list of topics. */
static int show(const struct arguments *arguments, struct gput_error *error)
{
    const char *first = arguments->n_operands ? arguments->operands[0] : "";
    char name[64];
    enum topic_id id;
    if (!first[0]) {
        help_print_topics(stdout);
        return GPUT_OK;
    }
    snprintf(name, sizeof name, "%s%s%s", first, arguments->n_operands > 1 ? " " : "",
        arguments->n_operands > 1 ? arguments->operands[1] : "");
    const struct command *command = command_find(name);
    if (arguments->n_operands == 1 && topic_find(first, &id))
        help_print_topic(stdout, id);
    else if (command)
        help_print(stdout, command);
    else if (arguments->n_operands == 1 && is_family(first))
        help_print_family(stdout, first);
    else
        return refuse(name, error);
    return GPUT_OK;
}

int cmd_help(const struct arguments *arguments)
{
    struct gput_error error;
    int code = show(arguments, &error);
    if (code == GPUT_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        error_set(&error, GPUT_ERROR_IO, "Cannot write to the standard output.");
        message_error(&error);
        return EXIT_FAILURE;
    }
    if (code != GPUT_OK)
        message_error(&error);
    return code == GPUT_OK ? EXIT_SUCCESS : EXIT_USAGE;
}
