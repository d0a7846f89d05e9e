/* The man page: what is common to all commands in prose, the rest from the tables. */
#include "generate.h"

#include "command.h"
#include "help.h"
#include "option.h"

#include <gputracker/gputracker.h>

#include <stdlib.h>
#include <string.h>

static const char introduction[] =
    ".SH DESCRIPTION\n"
    "Put\n"
    ".B gpu\\-tracker run \\-\\-\n"
    "in front of any command and know what it really used, with everything that it started: RAM, "
    "CPU, threads, GPU RAM, GPU utilization and wall time.\n"
    ".PP\n"
    "Long options may be shortened to any unique prefix. Their values are written as\n"
    ".B \\-\\-st=0.3\n"
    "or\n"
    ".BR \"\\-\\-st 0.3\" .\n";

static const char ending[] =
    ".SH EXIT STATUS\n"
    "The status of the tracked command is passed on. If a signal killed the command, the report is "
    "written and gpu\\-tracker kills itself with the same signal.\n"
    ".TP\n.B 0\nSuccess.\n"
    ".TP\n.B 1\nSomething failed; one line on the standard error says what.\n"
    ".TP\n.B 2\nUsage error: an unknown option or command, a missing value. Nothing was run.\n"
    ".TP\n.B 3\n.BR \"sub\\-track compare\" :\na rule of\n.B \\-\\-fail\\-if\nis broken.\n"
    ".TP\n.B 124\nA limit was exceeded and enforced.\n"
    ".TP\n.B 125\n.B run\nitself failed, an option has an invalid value, or the report could not "
    "be written.\n"
    ".TP\n.B 126\n.BR run :\nthe command is not executable.\n"
    ".TP\n.B 127\n.BR run :\nthe command was not found.\n"
    ".SH SIGNALS\n"
    "What a terminal sends (Ctrl\\-C, Ctrl\\-Z, a hang\\-up) reaches the command directly. What is "
    "sent to gpu\\-tracker alone is passed on to the command. Tracking goes on until the command "
    "ends. A second Ctrl\\-C within ten seconds ends gpu\\-tracker at once, with the report so "
    "far.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B GPUT_PROCFS\nThe proc file system. Default: /proc. Another pid namespace's can be "
    "read by\n.B attach\n(with the pids of that namespace, and without \\-\\-enforce) and\n.BR "
    "serve ;\nto track a command, it must be gpu\\-tracker's own.\n"
    ".TP\n.B GPUT_SYSFS\nThe sys file system. Default: /sys\n"
    ".TP\n.B GPUT_NVML\nThe path of libnvidia\\-ml.so.1. Default: the driver's own.\n"
    ".TP\n.B GPUT_CONFIG\nThe file of defaults. Empty: none. Default: see FILES.\n"
    ".TP\n.B GPUT_REPORT_PAGE\nThe page that\n.B gpu\\-tracker report\nfills in. Default: the one "
    "that is built in.\n"
    ".TP\n.B GPUT_PERFETTO_ADDRESS\nWhere\n.B gpu\\-tracker report \\-\\-perfetto\nserves. "
    "Default: "
    "127.0.0.1:9001, the only place that Perfetto's own page fetches from.\n"
    ".PP\nFor programs that mark code blocks with the library:\n"
    ".TP\n.B GPUT_BLOCKS_FILE\nThe sub\\-tracking file (.csv, .sqlite or .gputblocks);\n"
    ".B %p\nstands for the process ID, and the other placeholders as in names of outputs. One that "
    "is taken gets a number. Empty: marks do nothing. Default: %p.csv\n"
    ".TP\n.B GPUT_BLOCKS_OVERWRITE\n1: replace an existing file.\n"
    ".TP\n.B GPUT_PYTHON\nThe Python whose package gputracker writes Parquet and Arrow files. "
    "Default: python3.\n"
    ".TP\n.B GPUT_COLLECTORS\nThe folder of the libraries that record regions. Default: where "
    "they are installed.\n"
    ".TP\n.B GPUT_REGIONS_FOLDER\n.TQ\n.B GPUT_REGION_FILTER\n.TQ\n.B GPUT_REGION_DEPTH\n.TQ\n.B "
    "GPUT_REGION_PYTHON\n.TQ\n.B "
    "GPUT_REGION_MIN_NS\nWhat\n.B gpu\\-tracker run \\-\\-regions\nsets for those libraries.\n"
    ".TP\n.B GPUT_BLOCK_EXACT\n1: also record the kernel's CPU time, page faults, peak RSS and "
    "energy at each mark.\n.B peak ,\n.B counters\nand\n.B gpu\n(a list with commas): also the "
    "peak "
    "of RSS within each call; instructions, cycles and cache misses; time of GPUs.\n"
    ".SH FILES\n"
    ".TP\n.B ~/.config/gpu\\-tracker/config.json\n"
    "Defaults of options of\n.BR run \" and \" attach ,\n"
    "by their long names: {\\(dqformat\\(dq: \\(dqfull\\(dq, \\(dqprogress\\(dq: true}. "
    "If XDG_CONFIG_HOME is set, it stands for ~/.config.\n.B \\-\\-no\\-config\nignores the file.\n"
    ".TP\n.B .gpu\\-tracker_*\n"
    "In the working directory: the results so far while tracking runs. It remains only if "
    "gpu\\-tracker is killed;\n"
    ".B gpu\\-tracker show\n"
    "prints it.\n"
    ".SH EXAMPLES\n"
    ".EX\n"
    "gpu\\-tracker run \\-\\- make \\-j8\n"
    "gpu\\-tracker run \\-f json \\-o usage.json \\-\\- python train.py\n"
    "gpu\\-tracker \\-e \\(dqbash example\\-script.sh\\(dq \\-\\-st=0.3 \\-\\-tu=seconds\n"
    "gpu\\-tracker run \\-\\-st 0.1 \\-\\-tf samples.sqlite \\-\\- ./simulate\n"
    "gpu\\-tracker attach \\-\\-for 60 4711\n"
    ".EE\n";

/* Text with what is special to roff protected. */
static void put_text(FILE *file, const char *text)
{
    bool line_begins = true;
    for (; *text; text++) {
        if (line_begins && (*text == '.' || *text == '\''))
            fputs("\\&", file);
        if (*text == '-')
            fputs("\\-", file);
        else if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '\'')
            fputs("\\(aq", file);
        else
            fputc(*text, file);
        line_begins = *text == '\n';
    }
    fputc('\n', file);
}

/* Paragraphs, which an empty line parts. */
static void put_paragraphs(FILE *file, const char *text)
{
    char *copy = strdup(text);
    if (!copy)
        return;
    for (char *rest = copy, *end; rest; rest = end ? end + 2 : NULL) {
        end = strstr(rest, "\n\n");
        if (end)
            *end = '\0';
        fputs(".PP\n", file);
        put_text(file, rest);
    }
    free(copy);
}

static void put_option(FILE *file, const struct option *row)
{
    char usage[128];
    help_option_usage(row, usage, sizeof usage);
    fputs(".TP\n.B ", file);
    put_text(file, usage);
    put_text(file, row->help);
}

/* Lines of examples, whose first letters are not special to roff. */
static void put_examples(FILE *file, const char *examples)
{
    fputs(".PP\n.EX\n", file);
    put_text(file, examples);
    fputs(".EE\n", file);
}

static bool takes(const struct command *command, enum option_id wanted)
{
    const enum option_id *id = command->options;
    while (*id != OPTION_END && *id != wanted)
        id++;
    return *id == wanted;
}

/* The options that the unnamed command has too are described there, and only named here. */
static void put_options_of(FILE *file, const struct command *command, const struct command *program)
{
    for (const enum option_id *id = command->options; *id != OPTION_END; id++) {
        if (!takes(program, *id))
            put_option(file, option(*id));
    }
    fputs(".PP\nOptions described above:\n", file);
    for (const enum option_id *id = command->options; *id != OPTION_END; id++) {
        char name[64];
        if (!takes(program, *id))
            continue;
        fputs(".B ", file);
        put_text(file, option_name(option(*id), name));
    }
}

static void put_synopsis(FILE *file, const struct command *command)
{
    fputs(".B gpu\\-tracker", file);
    if (command->name[0]) {
        fputc(' ', file);
        for (const char *letter = command->name; *letter; letter++)
            fprintf(file, "%s%c", *letter == '-' ? "\\" : "", *letter);
    }
    fputc('\n', file);
    put_text(file, command->usage);
    fputs(".br\n", file);
}

void generate_man(FILE *file)
{
    int count;
    const struct command *commands = command_table(&count);
    fprintf(
        file, ".TH GPU\\-TRACKER 1 \"\" \"gpu\\-tracker %s\" \"User Commands\"\n", gput_version());
    fputs(".SH NAME\ngpu\\-tracker \\- what a command really used\n.SH SYNOPSIS\n", file);
    for (int i = 0; i < count; i++)
        put_synopsis(file, &commands[i]);
    fputs(introduction, file);
    fputs(".SH OPTIONS\n", file);
    const struct command *program = command_find("");
    for (const enum option_id *id = program->options; *id != OPTION_END; id++)
        put_option(file, option(*id));
    fputs(".SH COMMANDS\n", file);
    for (int i = 0; i < count; i++) {
        if (!commands[i].name[0])
            continue;
        fputs(".SS gpu\\-tracker ", file);
        put_text(file, commands[i].name);
        put_examples(file, commands[i].examples);
        put_paragraphs(file, commands[i].help);
        put_options_of(file, &commands[i], program);
    }
    fputs(ending, file);
}
