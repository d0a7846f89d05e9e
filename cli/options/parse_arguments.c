#include "options/parse_arguments.h"

#include "base/error.h"
#include "base/nearest.h"
#include "commands/command.h"
#include "options/arguments.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The positions of the words of the command's name in argv. 0: none. */
struct command_words {
    int first;
    int second;
};

static bool is_option(const char *text)
{
    return text[0] == '-' && text[1] != '\0';
}

/* Whether the value of an option is the next argument: `--st 0.3`, `-o x`, but not `-ox`. */
static bool value_is_next(const enum option_id *ids, const char *text)
{
    enum option_id id = OPTION_END;
    enum option_id other;
    if (text[1] == '-') {
        if (strchr(text, '='))
            return false;
        option_find_long(ids, text + 2, strlen(text + 2), &id, &other);
        return option(id)->kind != ARGUMENT_NONE && !option(id)->optional;
    }
    for (const char *name = text + 1; *name; name++) {
        id = option_find_short(ids, *name);
        if (option(id)->kind != ARGUMENT_NONE)
            return name[1] == '\0';
    }
    return false;
}

/* The first argument from `from` on that is neither an option nor the value of one; 0 when none. */
static int next_word(int argc, char **argv, int from)
{
    for (int i = from; i < argc; i++) {
        if (!is_option(argv[i]))
            return i;
        if (strcmp(argv[i], "--") == 0)
            return 0;
        if (value_is_next(option_all(), argv[i]))
            i++;
    }
    return 0;
}

bool parse_is_program(const char *name)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/'))
        return access(name, X_OK) == 0;
    for (const char *at = folders ? folders : ""; *at;) {
        char path[PATH_MAX];
        int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/%s", length, at, name);
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* `line`: the word and what follows it on the command line. */
static int unknown_command(char **line, struct gput_error *error)
{
    char list[256], question[NEAREST_QUESTION_SIZE], all[160] = "";
    /* List the first words of all commands, each once. */
    int count;
    const struct command *commands = command_table(&count);
    list[0] = '\0';
    for (int i = 0; i < count; i++) {
        char word[32];
        snprintf(word, sizeof word, "%.*s", (int)strcspn(commands[i].name, " "), commands[i].name);
        size_t used = strlen(list);
        if (word[0] && choice_find(list, word) < 0)
            snprintf(list + used, sizeof list - used, "%s%s", used ? " " : "", word);
    }
    suggest_command(list, *line, question);
    for (size_t i = 0; line[i]; i++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i > 0 ? " " : "", line[i]);
    }
    if (parse_is_program(*line))
        return error_set(error, GPUT_ERROR_INVALID,
            "Unknown command \"%.64s\"%s To track the program: gpu-tracker run -- %s", *line,
            question, all);
    if (strchr(question, '?'))
        return error_set(error, GPUT_ERROR_INVALID,
            "Unknown command \"%.64s\"%s To track a program of that name: gpu-tracker run -- %s. "
            "All commands: gpu-tracker help",
            *line, question, all);
    return error_set(error, GPUT_ERROR_INVALID,
        "Unknown command \"%.64s\". To track a program of that name: gpu-tracker run -- %s. "
        "Commands: %s; see gpu-tracker help",
        *line, all, list);
}

/* Whether it is -e or --execute, which the form without a command's name has alone. */
static bool is_execute(const char *name)
{
    static const enum option_id execute[] = {OPTION_EXECUTE, OPTION_END};
    enum option_id id;
    if (name[1] != '-')
        return option_find_short(execute, name[1]) != OPTION_END;
    return option_find_long(execute, name + 2, strlen(name + 2), &id, &id) == OPTION_FOUND;
}

/* Refuses -e sleep 1, where the command lacks its quotes; `word` is the position of "1". */
static int missing_quotes(char **argv, int word, struct gput_error *error)
{
    char line[160] = "";
    for (int i = word - 1; argv[i] && (i < word || !is_option(argv[i])); i++) {
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%s", used ? " " : "", argv[i]);
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "Unexpected \"%.64s\". -e takes the whole command in quotes: gpu-tracker -e \"%s\"",
        argv[word], line);
}

/* Whether the command line asks for help, in whatever way. */
static bool asks_for_help(int argc, char **argv)
{
    static const enum option_id help[] = {OPTION_HELP, OPTION_END};
    enum option_id id;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-h") == 0 ||
            (strncmp(argv[i], "--", 2) == 0 &&
                option_find_long(help, argv[i] + 2, strlen(argv[i] + 2), &id, &id) == OPTION_FOUND))
            return true;
    }
    return false;
}

/* The row of the command; of a family alone that of the program, when help is asked for it. */
static int find_command(int argc, char **argv, struct arguments *arguments,
    struct command_words *words, struct gput_error *error)
{
    const struct command **command = &arguments->command;
    *words = (struct command_words){.first = next_word(argc, argv, 1)};
    const char *first = words->first ? argv[words->first] : "";
    *command = command_find(first);
    if (*command)
        return GPUT_OK;

    char family[256];
    /* Append the second words of the commands whose first is `family`: "combine, analyze". */
    int count;
    const struct command *commands = command_table(&count);
    family[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (!command_is_of_family(&commands[i], first))
            continue;
        size_t used = strlen(family);
        snprintf(family + used, sizeof family - used, "%s%s", used ? ", " : "",
            commands[i].name + strlen(first) + 1);
    }
    if (!family[0] && words->first > 2 && is_option(argv[words->first - 2]) &&
        is_execute(argv[words->first - 2]))
        return missing_quotes(argv, words->first, error);
    if (!family[0])
        return unknown_command(argv + words->first, error);
    words->second = next_word(argc, argv, words->first + 1);
    char name[256];
    snprintf(name, sizeof name, "%s %s", first, words->second ? argv[words->second] : "");
    *command = command_find(name);
    if (*command)
        return GPUT_OK;
    if (!words->second && asks_for_help(argc, argv)) {
        *command = command_find("");
        arguments->family = first;
        return GPUT_OK;
    }
    char question[NEAREST_QUESTION_SIZE];
    suggest_of_family(first, words->second ? argv[words->second] : "", question);
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%s\" must be followed by one of: %s.%s See gpu-tracker %s -h", first, family, question,
        first);
}

/* " run" or "": to be put after "gpu-tracker" in messages. */
static const char *name_after_blank(const struct command *command, char buffer[64])
{
    snprintf(buffer, 64, "%s%s", command->name[0] ? " " : "", command->name);
    return buffer;
}

/* Maximum length of a list of options: longer ones are for help alone. */
enum { MAX_LISTED = 300, OPTIONS_TEXT_SIZE = 960 };

/* Writes the names of options with blanks between. */
static void list_options(const enum option_id *ids, char *list, size_t size)
{
    list[0] = '\0';
    for (; *ids != OPTION_END; ids++) {
        char buffer[64];
        size_t used = strlen(list);
        snprintf(
            list + used, size - used, "%s%s", used ? " " : "", option_name(option(*ids), buffer));
    }
}

/* Who does not know --tf calls it what help calls its value: --tracking-file, or --tracking. One
 * word says too little for that. */
static void suggest_by_value(
    const enum option_id *ids, const char *name, bool by_part, char near[GPUT_NEAREST_SIZE])
{
    for (near[0] = '\0'; *ids != OPTION_END; ids++) {
        const struct option *row = option(*ids);
        char value[64], buffer[64];
        if (!row->argument || !strchr(row->argument, '-'))
            continue;
        snprintf(value, sizeof value, "--%s", row->argument);
        if (by_part)
            choice_suggest_by_part(value, name, near);
        else
            gput_nearest_words(value, name, near);
        if (near[0]) {
            snprintf(near, GPUT_NEAREST_SIZE, "%s=<%s>", option_name(row, buffer), row->argument);
            return;
        }
    }
}

/* What other programs call an option of ours; false: nothing like that is among `ids`. */
static bool find_synonym(const enum option_id *ids, const char *name, char near[GPUT_NEAREST_SIZE])
{
    static const struct {
        const char *name, *meant;
        enum option_id id;
    } synonyms[] = {
        {"--json", "--format=json", OPTION_TRACKING_FORMAT},
        {"--csv", "--tf=<file.csv>", OPTION_TRACKING_FILE},
        {"--html", "--report=<file.html>", OPTION_HTML_REPORT},
        {"--silent", "--quiet", OPTION_QUIET},
        {"--verbose", "--format=full or --processes", OPTION_PROCESSES},
        {"--timeout", "--limit=seconds=<seconds> --enforce", OPTION_LIMIT},
        {"--memory", "--limit=ram=<size>", OPTION_LIMIT},
        {"--period", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--rate", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--duration", "--for=<seconds>", OPTION_FOR},
        {"--duration", "--limit=seconds=<seconds>", OPTION_LIMIT},
        {"--time", "--limit=seconds=<seconds>", OPTION_LIMIT},
        {"--mem", "--limit=ram=<size>", OPTION_LIMIT},
        {"--max-ram", "--limit=ram=<size>", OPTION_LIMIT},
        {"--file", "--output=<output>", OPTION_OUTPUT},
        {"--save", "--output=<output>", OPTION_OUTPUT},
        {"--sqlite", "--tf=<file.sqlite>", OPTION_TRACKING_FILE},
        {"--db", "--tf=<file.sqlite>", OPTION_TRACKING_FILE},
        {"--freq", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--every", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--sample", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--sampling", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--plot", "--report=<file.html>", OPTION_HTML_REPORT},
        {"--watch", "--live", OPTION_LIVE},
        {"--mb", "--ram-unit=megabytes", OPTION_RAM_UNIT},
        {"--pid", "gpu-tracker attach <pid>", OPTION_LIVE},
        {"--force", "--overwrite", OPTION_OVERWRITE},
        {"--children", "--processes", OPTION_PROCESSES},
        {"--gpu", "--gpu-uuids=<gpu-uuids>", OPTION_GPU_UUIDS},
        {"--gpus", "--gpu-uuids=<gpu-uuids>", OPTION_GPU_UUIDS},
        {"--device", "--gpu-uuids=<gpu-uuids>", OPTION_GPU_UUIDS},
        {"--devices", "--gpu-uuids=<gpu-uuids>", OPTION_GPU_UUIDS},
        {"-V", "--version", OPTION_VERSION},
        {"-V", "--version", OPTION_PROGRAM_VERSION},
        {"-t", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"-i", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"-p", "gpu-tracker attach <pid>", OPTION_LIVE},
        {"-p", "gpu-tracker attach <pid>", OPTION_FOR},
        {"-p", "gpu-tracker live <pid>", OPTION_LIVE_MARKS},
        {"--pid", "gpu-tracker attach <pid>", OPTION_FOR},
        {"--pid", "gpu-tracker live <pid>", OPTION_LIVE_MARKS},
        {"--port", "--listen=<port>", OPTION_SERVE_LISTEN},
        {"--port", "--listen=<port>", OPTION_LISTEN},
        {"--prometheus", "--listen=<host:port>", OPTION_LISTEN},
        {"--poll", "--interval=<seconds>", OPTION_SLEEP_TIME},
        {"--include-children", "--processes", OPTION_PROCESSES},
        {"--loop", "--watch", OPTION_WATCH},
        {"-l", "--watch", OPTION_WATCH},
        {"--last", "-n <number>", OPTION_HISTORY_LAST},
        {"--limit", "-n <number>", OPTION_HISTORY_LAST},
        {"-m", "--runs=<number>", OPTION_BENCH_RUNS},
        {"-M", "--runs=<number>", OPTION_BENCH_RUNS},
        {"--min-runs", "--runs=<number>", OPTION_BENCH_RUNS},
        {"--max-runs", "--runs=<number>", OPTION_BENCH_RUNS},
        {"--repeat", "--runs=<number>", OPTION_BENCH_RUNS},
        {"--command-name", "--name=<name>", OPTION_BENCH_NAME},
        {"--reference", "--baseline=<file>", OPTION_BENCH_BASELINE},
        {"--export-json", "--output=<file.json>", OPTION_BENCH_OUTPUT},
        {"--export-csv", "--output=<file.csv>", OPTION_BENCH_OUTPUT},
        {"--export-markdown", "--output=<file.md>", OPTION_BENCH_OUTPUT},
        {"--export-asciidoc", "--output=<file.adoc>", OPTION_BENCH_OUTPUT},
        {"-L", "--parameter=<name=values>", OPTION_BENCH_PARAMETER},
        {"--parameter-list", "--parameter=<name=values>", OPTION_BENCH_PARAMETER},
        {"--parameter-scan", "--parameter=<name=values>", OPTION_BENCH_PARAMETER},
    };
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        for (const enum option_id *id = ids; *id != OPTION_END; id++) {
            if (*id == synonyms[i].id && strcmp(name, synonyms[i].name) == 0) {
                snprintf(near, GPUT_NEAREST_SIZE, "%s", synonyms[i].meant);
                return true;
            }
        }
    }
    return false;
}

/* What an unknown option may stand for, the likeliest first; "" when nothing is near. */
static void suggest_option(
    const enum option_id *ids, const char *list, const char *name, char near[GPUT_NEAREST_SIZE])
{
    if (find_synonym(ids, name, near))
        return;
    gput_nearest_words(list, name, near);
    if (!near[0])
        suggest_by_value(ids, name, false, near);
    if (!near[0])
        choice_suggest_by_part(list, name, near);
    if (!near[0])
        suggest_by_value(ids, name, true, near);
}

/* Refuses an option, and names the one that may be meant. */
static int unknown_option(struct arguments *arguments, const char *name, struct gput_error *error)
{
    if (strcmp(name, "-v") == 0) {
        /* Other programs show details with -v: to print the version instead would lose a job. */
        bool has_details = option_is_among(arguments->command->options, OPTION_TRACKING_FORMAT);
        return error_set(error, GPUT_ERROR_INVALID, "-v is the version: gpu-tracker --version.%s",
            has_details ? " Details of a run: -f full." : "");
    }
    if (arguments->command->instead && is_execute(name))
        return error_set(
            error, GPUT_ERROR_INVALID, "Unknown option %s. %s", name, arguments->command->instead);
    char all[OPTIONS_TEXT_SIZE], list[OPTIONS_TEXT_SIZE], near[GPUT_NEAREST_SIZE];
    char question[NEAREST_QUESTION_SIZE], command[64];
    list_options(arguments->command->options, all, sizeof all);
    snprintf(list, sizeof list, "%s", all);
    /* Append the longer names too: a typing error may be nearer to them. */
    const enum option_id *ids = arguments->command->options;
    for (; *ids != OPTION_END; ids++) {
        const char *at = option(*ids)->other_names ? option(*ids)->other_names : "";
        while (*at) {
            size_t used = strlen(list), length = strcspn(at, " ");
            snprintf(list + used, sizeof list - used, " --%.*s", (int)length, at);
            at += length + (at[length] == ' ');
        }
    }
    suggest_option(arguments->command->options, list, name, near);
    nearest_question_of(near, question);
    name_after_blank(arguments->command, command);
    if (near[0] || strlen(all) > MAX_LISTED)
        return error_set(error, GPUT_ERROR_INVALID, "Unknown option %s%s See gpu-tracker%s %s",
            name, question, command, near[0] && command[0] ? "-h" : "--help");
    return error_set(error, GPUT_ERROR_INVALID, "Unknown option %s. Options of gpu-tracker%s: %s",
        name, command, all);
}

/* Whether there is no value: "--" ends the options. A file of that name is "./--". */
static bool has_no_value(const char *next)
{
    return !next || strcmp(next, "--") == 0;
}

static int missing_value(const struct option *row, const char *name, struct gput_error *error)
{
    return error_set(
        error, GPUT_ERROR_INVALID, "Option %s needs a value: %s <%s>", name, name, row->argument);
}

/* Reads a long option; *next is its possible value, NULL at the end, and set to NULL when used. */
static int parse_long(
    struct arguments *arguments, const char *text, const char **next, struct gput_error *error)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    enum option_id id;
    enum option_id other;
    char shown[64];
    snprintf(shown, sizeof shown, "%.*s", (int)length, text);
    switch (option_find_long(arguments->command->options, text + 2, length - 2, &id, &other)) {
    case OPTION_UNKNOWN:
        return unknown_option(arguments, shown, error);
    case OPTION_AMBIGUOUS:
        return error_set(error, GPUT_ERROR_INVALID, "Option %s is ambiguous: --%s or --%s?", shown,
            option(id)->long_name, option(other)->long_name);
    case OPTION_FOUND:
        break;
    }
    const struct option *row = option(id);
    char name[64];
    option_name(row, name);
    if (row->kind == ARGUMENT_NONE && equals)
        return error_set(
            error, GPUT_ERROR_INVALID, "Option %s takes no value. Write only %s", name, name);
    const char *value = equals ? equals + 1 : "";
    if (!equals && row->kind != ARGUMENT_NONE && !row->optional) {
        if (has_no_value(*next))
            return missing_value(row, shown, error);
        value = *next;
        *next = NULL;
    }
    TRY(arguments_add_borrowed(arguments, id, value, error));
    arguments->uses[arguments->n_uses - 1].typed = text;
    return GPUT_OK;
}

/* Reads a cluster of short options: `-v`, `-o`, `-ox`. *next as above. */
static int parse_short(
    struct arguments *arguments, const char *text, const char **next, struct gput_error *error)
{
    for (const char *letter = text + 1; *letter; letter++) {
        char name[] = {'-', *letter, '\0'};
        enum option_id id = option_find_short(arguments->command->options, *letter);
        if (id == OPTION_END)
            return unknown_option(arguments, name, error);
        arguments->wants_short_help |= id == OPTION_HELP;
        if (option(id)->kind != ARGUMENT_NONE) {
            const char *value = letter[1] ? letter + 1 : *next;
            if (!letter[1] && has_no_value(value))
                return missing_value(option(id), name, error);
            if (!letter[1])
                *next = NULL;
            return arguments_add_borrowed(arguments, id, value, error);
        }
        TRY(arguments_add_borrowed(arguments, id, "", error));
    }
    return GPUT_OK;
}

static void add_operands(struct arguments *arguments, char **texts, int count)
{
    memcpy(arguments->operands + arguments->n_operands, texts, (size_t)count * sizeof *texts);
    arguments->n_operands += count;
}

int parse_arguments(int argc, char **argv, struct arguments *arguments, struct gput_error *error)
{
    *arguments = (struct arguments){.n_before_dashes = -1};
    struct command_words words;
    TRY(find_command(argc, argv, arguments, &words, error));
    arguments->operands = calloc((size_t)argc + 1, sizeof *arguments->operands);
    if (!arguments->operands)
        return error_memory(error);
    for (int i = 1; i < argc; i++) {
        if (i == words.first || i == words.second)
            continue;
        bool ends_options = strcmp(argv[i], "--") == 0;
        if (ends_options || (!is_option(argv[i]) && arguments->command->takes_a_command)) {
            if (ends_options)
                arguments->n_before_dashes = arguments->n_operands;
            add_operands(arguments, argv + i + ends_options, argc - i - ends_options);
            return GPUT_OK;
        }
        if (!is_option(argv[i])) {
            add_operands(arguments, argv + i, 1);
            continue;
        }
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        const char *possible_value = next;
        TRY(argv[i][1] == '-' ? parse_long(arguments, argv[i], &next, error)
                              : parse_short(arguments, argv[i], &next, error));
        if (next != possible_value)
            i++;
    }
    return GPUT_OK;
}

/* What the usage calls the operand at `index`, without what follows it: "FILE" of "FILE...". */
static const char *operand_name(const char *usage, int index, int *length)
{
    *length = 0;
    while (*usage) {
        *length = (int)strcspn(usage, " [.");
        if (*length > 0 && index-- == 0)
            break;
        usage += strcspn(usage, " ");
        usage += strspn(usage, " ");
    }
    return usage;
}

int parse_check_operands(const struct arguments *arguments, struct gput_error *error)
{
    const struct command *command = arguments->command;
    char name[64];
    name_after_blank(command, name);
    if (arguments->n_operands < command->operands.min) {
        int length;
        const char *missing = operand_name(command->usage, arguments->n_operands, &length);
        struct stat info;
        bool is_folder = command->function == cmd_compare && arguments->n_operands == 1 &&
                         stat(arguments->operands[0], &info) == 0 && S_ISDIR(info.st_mode);
        return error_set(error, GPUT_ERROR_INVALID,
            "%.*s is missing: gpu-tracker%s %s, for example: %.*s%s%s", length, missing, name,
            command->usage, (int)strcspn(command->examples, "\n#"), command->examples,
            is_folder ? ". A folder: gpu-tracker job " : "",
            is_folder ? arguments->operands[0] : "");
    }
    if (command->operands.max < 0 || arguments->n_operands <= command->operands.max)
        return GPUT_OK;
    const char *word = arguments->operands[command->operands.max];
    char near[GPUT_NEAREST_SIZE] = "", question[NEAREST_QUESTION_SIZE];
    if (option_is_among(command->options, OPTION_ANALYZED_FILE) &&
        !arguments_have(arguments, OPTION_ANALYZED_FILE) && strlen(word) < 64)
        snprintf(near, sizeof near, "--tf %s", word);
    return error_set(error, GPUT_ERROR_INVALID, "Unexpected \"%s\"%s Usage: gpu-tracker%s %s%s%s",
        word, nearest_question_of(near, question), name, command->usage,
        command->instead ? ". " : "", command->instead ? command->instead : "");
}
