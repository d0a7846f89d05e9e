#include "help/help.h"

#include "commands/command.h"
#include "options/arguments.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* ---- Wrapped text ---- */

/*
 * Writes a text and a line end, in lines of at most `width` columns, each but the first indented by
 * `indent` blanks; the first begins at column `column`. Line ends of the text are kept. Words that
 * are longer than a line stay whole.
 */
static void wrap_text(FILE *file, const char *text, int column, int indent, int width)
{
    bool begins = true; /* no word is on this line yet */
    while (*text) {
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + !begins + length > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (!begins) {
            fputc(' ', file);
            column++;
        }
        begins = false;
        fprintf(file, "%.*s", length, text);
        column += length;
        text += length;
        if (*text == '\n') {
            fprintf(file, "\n%*s", text[1] && text[1] != '\n' ? indent : 0, "");
            column = indent;
            begins = true;
        }
        text += *text != '\0';
    }
    fputc('\n', file);
}

/* Where the last column of a line begins. */
static int last_column(const char *line)
{
    int column = 0;
    for (int i = 2; line[0] && line[1] && line[i]; i++) {
        if (line[i - 2] == ' ' && line[i - 1] == ' ' && line[i] != ' ')
            column = i;
    }
    return column;
}

void wrap_columns(FILE *file, char *text, int width)
{
    for (char *line; (line = strsep(&text, "\n")) && text;) {
        int column = last_column(line);
        fprintf(file, "%.*s", column, line);
        wrap_text(file, line + column, column, column, width);
    }
}

/* ---- Help ---- */

#define OPTION_INDENT 4
#define USAGE_INDENT 8 /* of further lines */
#define OPTION_TEXT_COLUMN 28
#define COMMAND_TEXT_COLUMN 28
#define TOPIC_TEXT_COLUMN 14
#define SHORT_OPTION_COLUMN 31
#define GROUP_COLUMN 9 /* of options after the titles of their groups */

enum { HELP_WIDTH = 80 };

void help_option_usage(const struct option *option, char *buffer, size_t size)
{
    char short_form[4] = "";
    char argument[64] = "";
    if (option->short_name)
        snprintf(short_form, sizeof short_form, "-%c%s", option->short_name,
            option->long_name ? " " : "");
    if (option->optional)
        snprintf(argument, sizeof argument, "[=<%s>]", option->argument);
    else if (option->argument)
        snprintf(
            argument, sizeof argument, "%c<%s>", option->long_name ? '=' : ' ', option->argument);
    snprintf(buffer, size, "%s%s%s%s", short_form, option->long_name ? "--" : "",
        option->long_name ? option->long_name : "", argument);
}

void help_option_text(const struct option *option, char *text, size_t size)
{
    snprintf(text, size, "%s", option->help);
    /* List the longer names of an option, after its help. */
    const char *at = option->other_names ? option->other_names : "";
    const char *before = " Also ";
    while (*at) {
        size_t used = strlen(text), length = strcspn(at, " ");
        snprintf(
            text + used, size - used, "%s--%.*s%s", before, (int)length, at, at[length] ? "" : ".");
        before = ", ";
        at += length + (at[length] == ' ');
    }
}

/* A term and after it, from `column` on, its text; on a line of its own when the term is long. */
static void print_entry(FILE *file, const char *term, const char *text, int column)
{
    int used = fprintf(file, "%*s%s", OPTION_INDENT, "", term);
    if (used + 2 > column)
        fprintf(file, "\n%*s", column, "");
    else
        fprintf(file, "%*s", column - used, "");
    wrap_text(file, text, column, column, HELP_WIDTH);
}

/* Prints the options with what each does. */
static void print_options(FILE *file, const enum option_id *ids)
{
    fputs("\nOptions:\n", file);
    for (; *ids != OPTION_END; ids++) {
        char usage[128], text[HELP_TEXT_SIZE];
        help_option_usage(option(*ids), usage, sizeof usage);
        help_option_text(option(*ids), text, sizeof text);
        print_entry(file, usage, text, OPTION_TEXT_COLUMN);
    }
}

static void print_usage(FILE *file, const struct command *command)
{
    int column = fprintf(file, "    gpu-tracker %s%s", command->name, command->name[0] ? " " : "");
    wrap_text(file, command->usage, column, USAGE_INDENT, HELP_WIDTH);
}

/* Lines of examples as they are typed, at most so many; one that goes on in a next line is one. */
static void print_example_lines(FILE *file, const char *examples, int max)
{
    while (*examples && max > 0) {
        int length = (int)strcspn(examples, "\n");
        fprintf(file, "    %.*s\n", length, examples);
        max -= length == 0 || examples[length - 1] != '\\';
        examples += length + (examples[length] == '\n');
    }
}

static void print_examples(FILE *file, const char *examples, int max)
{
    fputs("\nExamples:\n", file);
    print_example_lines(file, examples, max);
}

static void print_command(FILE *file, const struct command *command)
{
    if (command->name[0])
        print_entry(file, command->name, command->summary, COMMAND_TEXT_COLUMN);
}

/* Prints the commands of a topic. */
static void print_commands_of(FILE *file, enum topic_id id)
{
    int count;
    const struct command *commands = command_table(&count);
    for (int i = 0; i < count; i++) {
        if (commands[i].topic == id)
            print_command(file, &commands[i]);
    }
}

void help_print_topics(FILE *file)
{
    fputs("gpu-tracker shows what a command, and all that it starts, really uses.\nExamples:\n",
        file);
    print_example_lines(file, topic(TOPIC_TRACK)->examples, INT_MAX);
    fputs("\nTopics (gpu-tracker help TOPIC) and commands (gpu-tracker help COMMAND):\n", file);
    for (int id = 0; id < TOPIC_COUNT; id++) {
        char list[512];
        /* List the commands: "run, attach". A family has its first word once: "mark start, stop".
         */
        int count;
        const struct command *commands = command_table(&count), *before = NULL;
        list[0] = '\0';
        for (int i = 0; i < count; i++) {
            const char *name = commands[i].name;
            if (commands[i].topic != (enum topic_id)id || !name[0])
                continue;
            size_t used = strlen(list), first = strcspn(name, " ");
            bool is_word = name[first] == '\0',
                 is_next = before && !is_word && strncmp(before->name, name, first + 1) == 0;
            snprintf(list + used, sizeof list - used, "%s%s",
                !before                                              ? ""
                : is_next || (is_word && !strchr(before->name, ' ')) ? ", "
                                                                     : "; ",
                is_next ? name + first + 1 : name);
            before = &commands[i];
        }
        print_entry(file, topic((enum topic_id)id)->name, topic((enum topic_id)id)->summary,
            TOPIC_TEXT_COLUMN);
        fprintf(file, "%*s", TOPIC_TEXT_COLUMN, "");
        wrap_text(file, list, TOPIC_TEXT_COLUMN, TOPIC_TEXT_COLUMN, HELP_WIDTH);
    }
}

void help_print_topic(FILE *file, enum topic_id id)
{
    fprintf(file, "%s\n", topic(id)->summary);
    print_examples(file, topic(id)->examples, INT_MAX);
    fputs("\nCommands (each has its own help: gpu-tracker COMMAND -h):\n", file);
    print_commands_of(file, id);
    fprintf(file, "More: %s\n", topic(id)->more);
}

/* Names that were given to other families since. */
static void print_older_names(FILE *file, const char *family)
{
    int count;
    const struct command *commands = command_table(&count);
    bool begins = true;
    for (int i = 0; i < count; i++) {
        if (!command_was_of_family(&commands[i], family))
            continue;
        if (begins)
            fputs("\nOlder names, accepted too:\n", file);
        begins = false;
        char text[80];
        snprintf(text, sizeof text, "Is now: gpu-tracker %s", commands[i].name);
        print_entry(file, commands[i].older_name, text, COMMAND_TEXT_COLUMN);
    }
}

void help_print_family(FILE *file, const char *family)
{
    int count;
    const struct command *commands = command_table(&count);
    fputs("Usage:\n", file);
    for (int i = 0; i < count; i++) {
        if (command_is_of_family(&commands[i], family))
            print_usage(file, &commands[i]);
    }
    fputs("\nExamples:\n", file);
    for (int i = 0; i < count; i++) {
        if (command_is_of_family(&commands[i], family))
            fprintf(
                file, "    %.*s\n", (int)strcspn(commands[i].examples, "\n"), commands[i].examples);
    }
    fputs("\nCommands (each has its own help: gpu-tracker COMMAND -h):\n", file);
    for (int i = 0; i < count; i++) {
        if (command_is_of_family(&commands[i], family))
            print_command(file, &commands[i]);
    }
    print_older_names(file, family);
}

/* Appends a word, unless it is there. */
static void add_word(char words[HELP_WORDS_SIZE], const char *word, size_t length)
{
    char copy[32];
    size_t used = strlen(words);
    snprintf(copy, sizeof copy, "%.*s", (int)length, word);
    if (copy[0] && choice_find(words, copy) < 0)
        snprintf(words + used, HELP_WORDS_SIZE - used, "%s%s", used ? " " : "", copy);
}

void help_words(char words[HELP_WORDS_SIZE])
{
    int count;
    const struct command *commands = command_table(&count);
    words[0] = '\0';
    for (int i = 0; i < TOPIC_COUNT; i++)
        add_word(words, topic((enum topic_id)i)->name, strlen(topic((enum topic_id)i)->name));
    for (int i = 0; i < count; i++)
        add_word(words, commands[i].name, strcspn(commands[i].name, " "));
}

void help_print(FILE *file, const struct command *command)
{
    if (!command->name[0]) {
        /* Print our form first, then that of the older command, whose users expect its options
         * here. */
        fputs("gpu-tracker shows what a command, and all that it starts, really uses.\n\nUsage:\n",
            file);
        print_usage(file, command_find("run"));
        fputs("    gpu-tracker COMMAND [OPTIONS] ...\n", file);
        print_usage(file, command);
        fputs("    gpu-tracker -h | --help\n    gpu-tracker -v | --version\n"
              "\nCommands (shorter: gpu-tracker help; each has its own: gpu-tracker COMMAND -h):\n",
            file);
        for (int id = 0; id < TOPIC_COUNT; id++) {
            fprintf(file, "  %s\n", topic((enum topic_id)id)->summary);
            print_commands_of(file, (enum topic_id)id);
        }
        fputs("\ngpu-tracker -e is the form of the older gpu_tracker:\n", file);
        wrap_text(file, command->help, 0, 0, HELP_WIDTH);
        print_options(file, command->options);
        return;
    }
    fputs("Usage:\n", file);
    print_usage(file, command);
    print_examples(file, command->examples, INT_MAX);
    fputc('\n', file);
    wrap_text(file, command->help, 0, 0, HELP_WIDTH);
    if (command->note && command->note()[0]) {
        fputc('\n', file);
        wrap_text(file, command->note(), 0, 0, HELP_WIDTH);
    }
    print_options(file, command->options);
}

/* One line: `title` or blanks, the option, and as much of its help as fits. */
static void print_short_option(FILE *file, const char *title, const struct option *option)
{
    char usage[128], text[HELP_TEXT_SIZE];
    help_option_usage(option, usage, sizeof usage);
    snprintf(text, sizeof text, "%s", option->brief ? option->brief : option->help);
    char *end = option->brief ? NULL : strstr(text, ". ");
    if (end)
        *end = '\0';
    int column = fprintf(file, "%-*s%-*s  ", title[0] ? GROUP_COLUMN : OPTION_INDENT, title,
        title[0] ? SHORT_OPTION_COLUMN - GROUP_COLUMN : SHORT_OPTION_COLUMN - OPTION_INDENT, usage);
    size_t width = (size_t)(HELP_WIDTH - column), length = strlen(text);
    if (length > width) {
        for (length = width - 4; length > 0 && text[length] != ' ';)
            length--;
        snprintf(text + length, sizeof text - length, " ...");
    } else if (length > 0 && text[length - 1] == '.') {
        text[length - 1] = '\0';
    }
    fprintf(file, "%s\n", text);
}

void help_print_short(FILE *file, const struct command *command)
{
    if (!command->name[0]) {
        help_print_topics(file);
        return;
    }
    fputs("Usage:\n", file);
    print_usage(file, command);
    fprintf(file, "%s\n", command->summary);
    print_examples(file, command->examples, 3);
    fprintf(file, "\nOptions (all about them: gpu-tracker %s --help):\n", command->name);
    if (command->groups) {
        for (const struct option_group *group = command->groups; group->title; group++) {
            for (size_t i = 0; group->ids[i] != OPTION_END; i++)
                print_short_option(file, i > 0 ? " " : group->title, option(group->ids[i]));
        }
        return;
    }
    for (const enum option_id *id = command->options; *id != OPTION_END; id++) {
        bool is_older = strncmp(option(*id)->help, "The older name", 14) == 0;
        if (*id != OPTION_HELP && *id != OPTION_VERSION && !is_older)
            print_short_option(file, "", option(*id));
    }
}
