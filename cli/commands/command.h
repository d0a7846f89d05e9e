/*
 * The table of commands. To add one: a row in command_table.c, a file cmd-NAME.c with its function,
 * and rows in option.c for options that no command has yet.
 */
#pragma once

#include "base/nearest.h"
#include "options/arguments.h"
#include "options/option.h"

#include <stdbool.h>

struct arguments;

/* What one wants; described by topic(). */
enum topic_id {
    TOPIC_TRACK,
    TOPIC_REPORT,
    TOPIC_BLOCKS,
    TOPIC_ENERGY,
    TOPIC_TRAINING,
    TOPIC_SERVE,
    TOPIC_COUNT,
};

struct option_group {
    const char *title;
    enum option_id ids[6]; /* OPTION_END after the last */
};

struct command {
    const char *name; /* "run"; two words for a family: "sub-track combine"; "" for the form that is
                         all options: gpu-tracker -e "…" */
    const char *older_name; /* is accepted too; or NULL */
    enum topic_id topic;
    const char *examples; /* a command line each, as a user types them */
    int (*function)(const struct arguments *arguments); /* returns the exit status */
    int view;            /* of a function that several rows have: which of them it is */
    const char *usage;   /* what follows the name: "[OPTIONS] PID" */
    const char *summary; /* one line for the list of commands */
    const char *help;    /* paragraphs; a line of its own stays one when it is indented */
    /* A further paragraph of the help that depends on the build, or ""; NULL: there is none. */
    const char *(*note)(void);
    const enum option_id *options; /* in the order of the help, OPTION_END at the end */
    /* What -h shows of them, by what one wants, a group without a title at the end; NULL: all. */
    const struct option_group *groups;
    struct {
        enum argument_kind kind; /* for completions */
        int min, max;            /* how many; max -1: any number */
    } operands;
    const char
        *instead; /* a sentence for who gives others, or -e: which command takes those; or NULL */
    bool takes_defaults;  /* of the user's config file (defaults.c) */
    bool takes_a_command; /* everything from the first operand on belongs to another program */
};

/* The rows, in the order of the help; *count says how many. */
const struct command *command_table(int *count);

/* The row of that name, or older name; or NULL. */
const struct command *command_find(const char *name);

/* Whether a command has two words, of which the first is `family`. */
bool command_is_of_family(const struct command *command, const char *family);

/* The same of its older name. */
bool command_was_of_family(const struct command *command, const char *family);

/* Notes of the table, in the file of their command. */
const char *cmd_report_note(void);

/* Functions of the table, one a file cmd-*.c. */
int cmd_execute(const struct arguments *arguments);
int cmd_run(const struct arguments *arguments);
int cmd_why(const struct arguments *arguments);
int cmd_attach(const struct arguments *arguments);
int cmd_live(const struct arguments *arguments);
int cmd_gpus(const struct arguments *arguments);
int cmd_doctor(const struct arguments *arguments);
int cmd_energy_record(const struct arguments *arguments);
int cmd_energy_summary(const struct arguments *arguments);
int cmd_energy_curve(const struct arguments *arguments);
int cmd_help(const struct arguments *arguments);
int cmd_push(const struct arguments *arguments);
int cmd_serve(const struct arguments *arguments);
int cmd_plot(const struct arguments *arguments);
int cmd_report(const struct arguments *arguments);
int cmd_bench(const struct arguments *arguments);
int cmd_compare(const struct arguments *arguments);
int cmd_job(const struct arguments *arguments);
int cmd_history(const struct arguments *arguments);
int cmd_size(const struct arguments *arguments);
int cmd_show(const struct arguments *arguments);
int cmd_mark(const struct arguments *arguments);
int cmd_sub_track_combine(const struct arguments *arguments);
int cmd_sub_track_analyze(const struct arguments *arguments);
int cmd_sub_track_compare(const struct arguments *arguments);
int cmd_profile(const struct arguments *arguments);
int cmd_profile_kineto(const struct arguments *arguments);
int cmd_profile_python(const struct arguments *arguments);
int cmd_timeline_merge(const struct arguments *arguments);

/*
 * The table of topics: what one may want, which commands do it, and examples to begin with.
 */

struct topic {
    const char *name;     /* one word: "energy" */
    const char *summary;  /* one line */
    const char *examples; /* a line each: a command line, then "# what it does" where that helps */
    const char *more;     /* where to read on */
};

const struct topic *topic(enum topic_id id);

/* The row of that name, or NULL; *id is its number. */
const struct topic *topic_find(const char *name, enum topic_id *id);

/*
 * Writes `: did you mean sub-track analyze?`, or "." when no name is near. `words` are the names
 * that may stand alone, with a blank between two; after them the second words of the commands are
 * tried, which are suggested with the first.
 */
void suggest_command(const char *words, const char *word, char text[NEAREST_QUESTION_SIZE]);

/* Writes ` Did you mean analyze?` of the commands whose first word is `family`, or "" when none is
 * near. */
void suggest_of_family(const char *family, const char *word, char text[NEAREST_QUESTION_SIZE]);
