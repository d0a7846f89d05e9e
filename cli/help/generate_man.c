/* The man pages: what is common to all commands in prose, the rest from the tables. */
#include "help/generate.h"

#include "commands/command.h"
#include "help/help.h"
#include "options/option.h"

#include <gputracker/gputracker.h>

#include <ctype.h>
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
    ".TP\n.B GPUT_SESSION\nSet by gpu\\-tracker for the command: the ids of the sessions that it "
    "is "
    "in. A session that is started there says so in its files.\n"
    ".TP\n.B GPUT_CONFIG\nThe file of defaults. Empty: none. Default: see FILES.\n"
    ".TP\n.B GPUT_HISTORY\nThe folder of the history, in which each session is then kept. "
    "Default: gpu\\-tracker in $XDG_STATE_HOME or ~/.local/state.\n"
    ".TP\n.B GPUT_REPORT_PAGE\nThe page that\n.B gpu\\-tracker report\nfills in. Default: the one "
    "that is built in.\n"
    ".TP\n.B GPUT_PERFETTO_ADDRESS\nWhere\n.B gpu\\-tracker report \\-\\-perfetto\nserves. "
    "Default: "
    "127.0.0.1:9001, the only place that Perfetto's own page fetches from.\n"
    ".TP\n.B GPUT_REMOTE_WRITE_HEADERS\nFields of each request of\n.BR \\-\\-remote\\-write :\n"
    "Authorization=Bearer%20TOKEN,X\\-Scope\\-OrgID=team\n"
    ".TP\n.B GPUT_REMOTE_WRITE_CERTIFICATE\n.TQ\n.B GPUT_REMOTE_WRITE_CLIENT_CERTIFICATE\n.TQ\n"
    ".B GPUT_REMOTE_WRITE_CLIENT_KEY\nFiles of https: certificates of authorities, our own "
    "certificate, and its key.\n"
    ".PP\nFor programs that mark code blocks with the library:\n"
    ".TP\n.B GPUT_BLOCKS_FILE\nThe sub\\-tracking file (.csv, .sqlite or .gputblocks);\n"
    ".B %p\nstands for the process ID, and the other placeholders as in names of outputs. One that "
    "is taken gets a number. Empty: marks do nothing. Default: %p.csv\n"
    ".TP\n.B GPUT_BLOCKS_OVERWRITE\n1: replace an existing file.\n"
    ".TP\n.B GPUT_PYTHON\nThe Python whose package gputracker writes Parquet and Arrow files, and "
    "reads and writes pickles. Default: python3.\n"
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

/* Writes an option with its description. */
static void put_option(FILE *file, const struct option *row)
{
    char usage[128];
    help_option_usage(row, usage, sizeof usage);
    fputs(".TP\n.B ", file);
    put_text(file, usage);
    char text[HELP_TEXT_SIZE];
    help_option_text(row, text, sizeof text);
    put_text(file, text);
}

/* Writes the name of a page: "gpu-tracker", or with the first word of its commands "gpu-tracker-
 * run". */
static void put_page_name(FILE *file, const char *family, bool is_upper)
{
    char name[64];
    snprintf(name, sizeof name, family[0] ? "gpu-tracker-%s" : "gpu-tracker", family);
    for (const char *letter = name; *letter; letter++)
        fprintf(file, "%s%c", *letter == '-' ? "\\" : "", is_upper ? toupper(*letter) : *letter);
}

/* Up to the synopsis. `about` is a sentence, which stands there without its capital and its period.
 */
static void put_head(FILE *file, const char *family, const char *about)
{
    fputs(".TH ", file);
    put_page_name(file, family, true);
    fprintf(file, " 1 \"\" \"gpu\\-tracker %s\" \"User Commands\"\n.SH NAME\n", gput_version());
    put_page_name(file, family, false);
    fprintf(file, " \\- %c%.*s\n.SH SYNOPSIS\n", tolower(about[0]), (int)strcspn(about + 1, "."),
        about + 1);
}

static void put_synopsis(FILE *file, const struct command *command)
{
    fputs(".B gpu\\-tracker ", file);
    put_text(file, command->name);
    put_text(file, command->usage);
    fputs(".br\n", file);
}

static bool is_of_family(const struct command *command, const char *family)
{
    size_t length = strlen(family);
    return strncmp(command->name, family, length) == 0 &&
           (command->name[length] == '\0' || command->name[length] == ' ');
}

void generate_man(FILE *file)
{
    const struct command *program = command_find("");
    put_head(file, "", "What a command really used.");
    fputs(".B gpu\\-tracker\n.I COMMAND\n[OPTIONS] ...\n.br\n", file);
    put_synopsis(file, program);
    fputs(introduction, file);
    /* List each command with its summary, and below it the page of its first word. */
    int count;
    const struct command *commands = command_table(&count);
    fputs(".SH COMMANDS\nEach has a page of its own, by its first word: "
          "gpu\\-tracker\\-run(1).\n",
        file);
    for (int i = 0; i < count; i++) {
        if (!commands[i].name[0])
            continue;
        fputs(".TP\n.B ", file);
        put_text(file, commands[i].name);
        put_text(file, commands[i].summary);
    }
    fputs(".SH OPTIONS\n", file);
    put_option(file, option(OPTION_HELP));
    put_option(file, option(OPTION_PROGRAM_VERSION));
    put_option(file, option(OPTION_EXECUTE));
    fputs(".PP\nWith \\-e all others are those of gpu\\-tracker\\-run(1).\n", file);
    fputs(ending, file);
}

bool generate_man_of(FILE *file, const char *family)
{
    int count, first = 0, n_commands = 0;
    const struct command *commands = command_table(&count);
    for (int i = count - 1; i >= 0; i--) {
        if (is_of_family(&commands[i], family)) {
            first = i;
            n_commands++;
        }
    }
    if (n_commands == 0 || !family[0])
        return false;
    put_head(file, family,
        n_commands == 1 ? commands[first].summary : topic(commands[first].topic)->summary);
    for (int i = 0; i < count; i++) {
        if (is_of_family(&commands[i], family))
            put_synopsis(file, &commands[i]);
    }
    for (int i = 0; i < count; i++) {
        if (!is_of_family(&commands[i], family))
            continue;
        fputs(n_commands == 1 ? ".SH DESCRIPTION\n" : ".SH ", file);
        if (n_commands > 1)
            put_text(file, commands[i].name);
        put_paragraphs(file, commands[i].help);
        fputs(".PP\n.EX\n", file); /* no line of them begins with a letter special to roff */
        put_text(file, commands[i].examples);
        fputs(".EE\n", file);
        fputs(n_commands == 1 ? ".SH OPTIONS\n" : ".SS Options\n", file);
        for (const enum option_id *id = commands[i].options; *id != OPTION_END; id++)
            put_option(file, option(*id));
    }
    fputs(".SH SEE ALSO\ngpu\\-tracker(1): exit status, signals, environment, files\n", file);
    return true;
}
