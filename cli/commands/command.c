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
