/* Completions for bash, zsh and fish. Each is a frame of that shell's own and, inside it, one piece
 * per command and option from the tables. */
#include "help/generate.h"

#include "commands/command.h"
#include "help/help.h"
#include "options/option.h"

#include <string.h>

/* A text in single quotes, for all three shells; in zsh's specifications `[`, `]` and `:` are
 * special too. */
static void put_escaped(FILE *file, const char *text, bool zsh)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", file);
        else if (*text == '\\' || (zsh && strchr("[]:", *text)))
            fprintf(file, "\\%c", *text);
        else
            fputc(*text, file);
    }
}

/* Every name of an option with `separator` between: "-o|--output". */
static void put_names(FILE *file, const struct option *row, const char *separator)
{
    if (row->short_name)
        fprintf(file, "-%c", row->short_name);
    if (row->short_name && row->long_name)
        fputs(separator, file);
    if (row->long_name)
        fprintf(file, "--%s", row->long_name);
}

/* The second half of a command's name of two words, or NULL. */
static const char *second_word(const char *name)
{
    const char *blank = strchr(name, ' ');
    return blank ? blank + 1 : NULL;
}

/* Returns whether no earlier command has that first word. */
static bool is_first_of_family(const struct command *commands, int index)
{
    size_t length = strcspn(commands[index].name, " ");
    for (int i = 0; i < index; i++) {
        if (strncmp(commands[i].name, commands[index].name, length + 1) == 0)
            return false;
    }
    return true;
}

/* Writes the first word of each command, once. */
static void put_first_words(FILE *file)
{
    int count;
    const struct command *commands = command_table(&count);
    for (int i = 0; i < count; i++) {
        if (commands[i].name[0] && is_first_of_family(commands, i))
            fprintf(file, " %.*s", (int)strcspn(commands[i].name, " "), commands[i].name);
    }
}

static void put_second_words(
    FILE *file, const struct command *commands, int count, int first, const char *separator)
{
    size_t length = strcspn(commands[first].name, " ");
    for (int i = first; i < count; i++) {
        if (strncmp(commands[i].name, commands[first].name, length + 1) == 0)
            fprintf(file, "%s%s", i > first ? separator : "", second_word(commands[i].name));
    }
}

/* ---- bash ---- */

static const char bash_head[] =
    "# bash completion for gpu-tracker. Made from its table of options; do not edit.\n"
    "_gpu_tracker_words() { COMPREPLY=($(compgen -W \"$*\" -- \"$current\")); }\n"
    "_gpu_tracker_files() { compopt -o filenames; COMPREPLY=($(compgen -f -- \"$current\")); }\n"
    "_gpu_tracker_command() {\n"
    "    if declare -F _command_offset >/dev/null; then _command_offset \"$1\"\n"
    "    else COMPREPLY=($(compgen -c -- \"$current\")); fi\n"
    "}\n"
    "_gpu_tracker() {\n"
    "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local i name= operand=0 options= kind=\n"
    "    if [[ $current == = ]]; then current=\n"
    "    elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        case ${COMP_WORDS[i]} in\n"
    "        --) operand=$((i + 1)); break ;;\n";

static const char bash_middle[] =
    "        -* | =) ;;\n"
    "        *)\n"
    "            if [[ -z $name || $families == *\" $name \"* ]]; then name=\"${name:+$name }"
    "${COMP_WORDS[i]}\"\n"
    "            else operand=$i; break; fi ;;\n"
    "        esac\n"
    "    done\n"
    "    case $name in\n";

static const char bash_tail[] =
    "    esac\n"
    "    if [[ $kind == command ]] && ((operand)); then _gpu_tracker_command \"$operand\"\n"
    "    elif [[ $current == -* ]]; then _gpu_tracker_words \"$options\"\n"
    "    elif [[ $kind == command ]]; then _gpu_tracker_command \"$COMP_CWORD\"\n"
    "    elif [[ $kind == file ]]; then _gpu_tracker_files\n"
    "    elif [[ $kind == words ]]; then _gpu_tracker_words \"$options\"; fi\n"
    "}\n"
    "complete -F _gpu_tracker gpu-tracker\n";

/* Writes the case that completes the value of an option. */
static void put_bash_option(FILE *file, const struct option *row)
{
    if (row->kind == ARGUMENT_NONE)
        return;
    fputs("        ", file);
    put_names(file, row, " | ");
    switch (row->kind) {
    case ARGUMENT_FILE:
        fputs(") _gpu_tracker_files; return ;;\n", file);
        break;
    case ARGUMENT_WORD:
        fprintf(file, ") _gpu_tracker_words %s; return ;;\n", row->words);
        break;
    case ARGUMENT_COMMAND:
        fputs(") COMPREPLY=($(compgen -c -- \"$current\")); return ;;\n", file);
        break;
    default:
        fputs(") return ;;\n", file);
        break;
    }
}

/* After "help": a topic or command, then the second word of a family. */
static void put_bash_help(FILE *file)
{
    int count;
    char words[HELP_WORDS_SIZE];
    const struct command *commands = command_table(&count);
    help_words(words);
    fputs("        if [[ $current != -* ]]; then\n            case "
          "$((operand)),${COMP_WORDS[operand]} in\n",
        file);
    fprintf(file, "            0,*) options='%s' ;;\n", words);
    for (int i = 0; i < count; i++) {
        if (!second_word(commands[i].name) || !is_first_of_family(commands, i))
            continue;
        fprintf(file, "            *,%.*s) options='", (int)strcspn(commands[i].name, " "),
            commands[i].name);
        put_second_words(file, commands, count, i, " ");
        fputs("' ;;\n", file);
    }
    fputs("            *) options= ;;\n            esac\n        fi\n", file);
}

void generate_bash(FILE *file)
{
    int count;
    const struct command *commands = command_table(&count);
    fputs(bash_head, file);
    /* Options whose value is a word of its own, which is not the command's name. */
    for (const enum option_id *id = option_all(); *id != OPTION_END; id++) {
        if (option(*id)->kind == ARGUMENT_NONE || option(*id)->optional)
            continue;
        fputs("        ", file);
        put_names(file, option(*id), " | ");
        fputs(") [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++)); ((i++)) ;;\n", file);
    }
    fputs(bash_middle, file);
    for (int i = 0; i < count; i++) {
        if (second_word(commands[i].name) && is_first_of_family(commands, i)) {
            /* After the first word of a family: what may follow it. */
            int length = (int)strcspn(commands[i].name, " ");
            fprintf(file, "    '%.*s')\n        kind=words options='", length, commands[i].name);
            put_second_words(file, commands, count, i, " ");
            fputs("'\n        ;;\n", file);
        }
        const struct command *command = &commands[i];
        fprintf(file, "    '%s')\n        case $previous in\n", command->name);
        for (const enum option_id *id = command->options; *id != OPTION_END; id++)
            put_bash_option(file, option(*id));
        fputs("        esac\n        options='", file);
        for (const enum option_id *id = command->options; *id != OPTION_END; id++) {
            put_names(file, option(*id), " ");
            fputc(' ', file);
        }
        fputs("'\n", file);
        if (!command->name[0]) {
            fputs("        [[ $current == -* ]] || options='", file);
            put_first_words(file);
            fputs("'\n", file);
        }
        if (command->operands.kind == ARGUMENT_HELP)
            put_bash_help(file);
        const char *kind = !command->name[0]                            ? "words"
                           : command->operands.kind == ARGUMENT_HELP    ? "words"
                           : command->operands.kind == ARGUMENT_COMMAND ? "command"
                           : command->operands.kind == ARGUMENT_FILE    ? "file"
                                                                        : "";
        fprintf(file, "        kind=%s\n        ;;\n", kind);
    }
    fputs(bash_tail, file);
}

/* ---- zsh ---- */

/* Writes an option as _arguments describes it. */
static void put_zsh_option(FILE *file, const struct option *row)
{
    fputs("        ", file);
    if (row->short_name && row->long_name)
        fprintf(file, "'(-%c --%s)'{-%c%s,--%s%s}", row->short_name, row->long_name,
            row->short_name, row->kind ? "+" : "", row->long_name, row->kind ? "=" : "");
    else if (row->long_name)
        fprintf(file, "%s--%s%s", row->repeatable ? "\\*" : "", row->long_name,
            row->optional ? "=-"
            : row->kind   ? "="
                          : "");
    else
        fprintf(
            file, "%s-%c%s", row->repeatable ? "\\*" : "", row->short_name, row->kind ? "+" : "");
    fputs("'[", file);
    put_escaped(file, row->help, true);
    fputs("]", file);
    if (row->kind != ARGUMENT_NONE)
        fprintf(file, "%s:%s:", row->optional ? ":" : "", row->argument);
    if (row->kind == ARGUMENT_FILE)
        fputs("_files", file);
    else if (row->kind == ARGUMENT_COMMAND)
        fputs("_command_names -e", file);
    else if (row->kind == ARGUMENT_WORD)
        fprintf(file, "(%s)", row->words);
    else if (row->kind == ARGUMENT_TEXT)
        fputc(' ', file);
    fputs("' \\\n", file);
}

/* As put_bash_help(). */
static void put_zsh_help(FILE *file)
{
    int count;
    char words[HELP_WORDS_SIZE];
    const struct command *commands = command_table(&count);
    help_words(words);
    fprintf(file, "        '1:topic or command:(%s)' \\\n", words);
    fputs("        '2:command:{ case $words[CURRENT-1] in", file);
    for (int i = 0; i < count; i++) {
        if (!second_word(commands[i].name) || !is_first_of_family(commands, i))
            continue;
        fprintf(file, " %.*s) compadd -- ", (int)strcspn(commands[i].name, " "), commands[i].name);
        put_second_words(file, commands, count, i, " ");
        fputs(";;", file);
    }
    fputs(" esac }'\n", file);
}

/* A call of _arguments with the options and operands of one command. */
static void put_zsh_command(FILE *file, const struct command *command)
{
    fputs("    _arguments -s -S \\\n", file);
    for (const enum option_id *id = command->options; *id != OPTION_END; id++)
        put_zsh_option(file, option(*id));
    if (command->operands.kind == ARGUMENT_COMMAND)
        fputs("        '(-)*::command:{ [[ $words[1] == -- ]] && shift words && ((CURRENT--)); "
              "_normal }'\n",
            file);
    else if (command->operands.kind == ARGUMENT_FILE)
        fputs("        '*:file:_files'\n", file);
    else if (command->operands.kind == ARGUMENT_HELP)
        put_zsh_help(file);
    else
        fputs("        '*: :'\n", file);
}

/* A family: what may follow, then the command of two words. */
static void put_zsh_family(FILE *file, const struct command *commands, int count, int first)
{
    int length = (int)strcspn(commands[first].name, " ");
    fprintf(file, "%.*s)\n    if ((CURRENT == 2)); then\n        compadd -- ", length,
        commands[first].name);
    put_second_words(file, commands, count, first, " ");
    fputs(
        "\n        return\n    fi\n    shift words; ((CURRENT--))\n    case $words[1] in\n", file);
    for (int i = first; i < count; i++) {
        if (strncmp(commands[i].name, commands[first].name, (size_t)length + 1) != 0)
            continue;
        fprintf(file, "    %s)\n", second_word(commands[i].name));
        put_zsh_command(file, &commands[i]);
        fputs("    ;;\n", file);
    }
    fputs("    esac\n    ;;\n", file);
}

void generate_zsh(FILE *file)
{
    int count;
    const struct command *commands = command_table(&count);
    fputs("#compdef gpu-tracker\n"
          "# zsh completion for gpu-tracker. Made from its table of options; do not edit.\n"
          "local context state state_descr line\n"
          "typeset -A opt_args\n"
          "_arguments -s -S -C \\\n",
        file);
    for (const enum option_id *id = command_find("")->options; *id != OPTION_END; id++)
        put_zsh_option(file, option(*id));
    fputs("        '1: :->command' '*:: :->operands' && return\n"
          "if [[ $state == command ]]; then\n"
          "    local -a commands=(\n",
        file);
    for (int i = 0; i < count; i++) {
        if (!commands[i].name[0] || !is_first_of_family(commands, i))
            continue;
        fprintf(file, "        '%.*s:", (int)strcspn(commands[i].name, " "), commands[i].name);
        put_escaped(file, commands[i].summary, true);
        fputs("'\n", file);
    }
    fputs("    )\n    _describe command commands\n    return\nfi\ncase $words[1] in\n", file);
    for (int i = 0; i < count; i++) {
        if (second_word(commands[i].name) && is_first_of_family(commands, i))
            put_zsh_family(file, commands, count, i);
        else if (commands[i].name[0] && !second_word(commands[i].name)) {
            fprintf(file, "'%s')\n", commands[i].name);
            put_zsh_command(file, &commands[i]);
            fputs("    ;;\n", file);
        }
    }
    fputs("esac\n", file);
}

/* ---- fish ---- */

static const char fish_head[] =
    "# fish completion for gpu-tracker. Made from its table of options; do not edit.\n"
    "function __gpu_tracker_is -d 'Whether the command line has that command'\n"
    "    set -l wanted (string split -n ' ' -- $argv[1])\n"
    "    set -l words (commandline -opc)[2..-1]\n"
    "    while set -q words[1]; and not contains -- $words[1] $__gpu_tracker_names\n"
    "        set -e words[1]\n"
    "    end\n"
    "    if test (count $wanted) -eq 0\n"
    "        test (count $words) -eq 0\n"
    "        return\n"
    "    end\n"
    "    test (count $words) -ge (count $wanted)\n"
    "    and test \"$words[1..\"(count $wanted)\"]\" = \"$wanted\"\n"
    "end\n"
    "complete -c gpu-tracker -f\n"
    "set -g __gpu_tracker_names";

/* As put_bash_help(). */
static void put_fish_help(FILE *file, const struct command *command)
{
    int count;
    char words[HELP_WORDS_SIZE];
    const struct command *commands = command_table(&count);
    help_words(words);
    fprintf(file,
        "complete -c gpu-tracker -n '__gpu_tracker_is \"%s\"; and test (count (commandline -opc)) "
        "-eq 2' -a '%s'\n",
        command->name, words);
    for (int i = 0; i < count; i++) {
        if (!second_word(commands[i].name) || !is_first_of_family(commands, i))
            continue;
        fprintf(file, "complete -c gpu-tracker -n '__gpu_tracker_is \"%s %.*s\"' -a '",
            command->name, (int)strcspn(commands[i].name, " "), commands[i].name);
        put_second_words(file, commands, count, i, " ");
        fputs("'\n", file);
    }
}

void generate_fish(FILE *file)
{
    int count;
    const struct command *commands = command_table(&count);
    fputs(fish_head, file);
    put_first_words(file);
    fputc('\n', file);
    for (int i = 0; i < count; i++) {
        const struct command *command = &commands[i];
        char first[64] = "";
        if (second_word(command->name))
            snprintf(first, sizeof first, "%.*s", (int)strcspn(command->name, " "), command->name);
        if (first[0] && is_first_of_family(commands, i))
            fprintf(file, "complete -c gpu-tracker -n '__gpu_tracker_is \"\"' -a %s\n", first);
        if (command->name[0]) {
            const char *name = first[0] ? second_word(command->name) : command->name;
            fprintf(file, "complete -c gpu-tracker -n '__gpu_tracker_is \"%s\"' -a %s -d '", first,
                name);
            put_escaped(file, command->summary, false);
            fputs("'\n", file);
        }
        for (const enum option_id *id = command->options; *id != OPTION_END; id++) {
            const struct option *row = option(*id);
            fprintf(file, "complete -c gpu-tracker -n '__gpu_tracker_is \"%s\"'", command->name);
            if (row->short_name)
                fprintf(file, " -s %c", row->short_name);
            if (row->long_name)
                fprintf(file, " -l %s", row->long_name);
            if (row->kind == ARGUMENT_FILE)
                fputs(" -r -F", file);
            else if (row->kind == ARGUMENT_WORD)
                fprintf(file, " -x -a '%s'", row->words);
            else if (row->kind == ARGUMENT_COMMAND)
                fputs(" -x -a '(__fish_complete_command)'", file);
            else if (row->kind == ARGUMENT_TEXT && !row->optional)
                fputs(" -x", file);
            fputs(" -d '", file);
            put_escaped(file, row->help, false);
            fputs("'\n", file);
        }
        if (command->operands.kind == ARGUMENT_COMMAND) {
            /* Fish finds the tracked command by itself when it knows what to skip: two words, and
             * the options whose value is a word of its own. */
            fprintf(file,
                "complete -c gpu-tracker -n '__gpu_tracker_is \"%s\"' -x -a "
                "'(__fish_complete_subcommand "
                "--fcs-skip=2 --",
                command->name);
            for (const enum option_id *id = command->options; *id != OPTION_END; id++) {
                if (option(*id)->kind == ARGUMENT_NONE)
                    continue;
                fputc(' ', file);
                put_names(file, option(*id), " ");
            }
            fputs(")'\n", file);
        }
        if (command->operands.kind == ARGUMENT_HELP)
            put_fish_help(file, command);
        if (command->operands.kind == ARGUMENT_FILE)
            fprintf(
                file, "complete -c gpu-tracker -n '__gpu_tracker_is \"%s\"' -F\n", command->name);
    }
}
