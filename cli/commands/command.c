#include "commands/command.h"

#include "base/nearest.h"

#include <stddef.h>
#include <stdio.h>
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

/* ---- Topics ---- */

static const struct topic topics[TOPIC_COUNT] = {
    [TOPIC_TRACK] =
        {
            .name = "track",
            .summary = "Track a command, or a process that is running.",
            .examples = "gpu-tracker run -- make -j8\n"
                        "gpu-tracker run -f json -o usage.json -- python train.py\n"
                        "gpu-tracker attach --for 60 4711\n"
                        "gpu-tracker run --live -- make -j8\n"
                        "gpu-tracker doctor                # what this machine can measure",
            .more = "gpu-tracker run --help (or man gpu-tracker-run)",
        },
    [TOPIC_REPORT] =
        {
            .name = "report",
            .summary = "See curves, code blocks and processes of sessions.",
            .examples = "gpu-tracker run --report train.html -- python train.py\n"
                        "gpu-tracker report samples.csv --stf blocks.csv",
            .more = "gpu-tracker report --help (or man gpu-tracker-report)",
        },
    [TOPIC_BLOCKS] =
        {
            .name = "blocks",
            .summary = "Find what each code block of a program used, and compare sessions.",
            .examples = "gpu-tracker run --tf samples.csv -- ./script-with-marks\n"
                        "gpu-tracker sub-track analyze --tf samples.csv --stf blocks.csv\n"
                        "gpu-tracker sub-track compare -m a=before.json -m b=after.json",
            .more = "gpu-tracker sub-track analyze --help (or man gpu-tracker-sub-track)",
        },
    [TOPIC_ENERGY] =
        {
            .name = "energy",
            .summary = "Record power, and sum up or draw recordings.",
            .examples = "gpu-tracker run --energy-folder exp1 -- python train.py\n"
                        "gpu-tracker energy summary exp1\n"
                        "gpu-tracker energy curve exp1 intel_power -o power.svg",
            .more = "gpu-tracker energy record --help (or man gpu-tracker-energy)",
        },
    [TOPIC_TRAINING] =
        {
            .name = "training",
            .summary = "Read training profiles, PyTorch traces and Python profiles.",
            .examples = "gpu-tracker profile steps profiler-output    # SageMaker Debugger's\n"
                        "gpu-tracker pytorch breakdown traces/        # PyTorch's profiler\n"
                        "gpu-tracker profile python top program.prof  # cProfile, pyinstrument\n"
                        "gpu-tracker timeline merge traces/ samples.csv -o merged.json",
            .more = "gpu-tracker profile steps --help (or man gpu-tracker-profile)",
        },
    [TOPIC_SERVE] =
        {
            .name = "serve",
            .summary = "Serve metrics to Prometheus.",
            .examples = "gpu-tracker serve                            # the machine\n"
                        "gpu-tracker run --listen 5001 -- ./simulate  # a command too",
            .more = "gpu-tracker serve --help (or man gpu-tracker-serve)",
        },
};

const struct topic *topic(enum topic_id id)
{
    return &topics[id];
}

const struct topic *topic_find(const char *name, enum topic_id *id)
{
    for (int i = 0; i < TOPIC_COUNT; i++) {
        if (strcmp(topics[i].name, name) == 0) {
            *id = (enum topic_id)i;
            return &topics[i];
        }
    }
    return NULL;
}

/* Words that other programs have for what a command does. */
static const struct synonym {
    const char *words, *meant;
} synonyms[] = {
    {"exec execute start stat track launch measure time", "run"},
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
