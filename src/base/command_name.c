#include "base/command_name.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* The options of a program that may stand before the script that it runs. Lists are separated by
 * blanks. A word that ends with * stands for all options that begin so: only those that take all of
 * the rest of the word, so that perl's -0777e is not one of them. */
struct interpreter {
    const char *names;   /* of the program, without its version */
    const char *letters; /* options of one letter, which may be joined: -Bu */
    const char *flags;   /* options without a value, or with the value joined */
    const char *values;  /* options whose value is the next word */
    const char *runs;    /* options whose value is what runs; it is part of the name */
    const char *command; /* a word that has to come first: accelerate launch */
    bool takes_no_script;
};

/* Programs that run another command, which has the name: nohup python3 train.py. */
static const struct interpreter wrappers[] = {
    {.names = "env",
        .letters = "i0v",
        .flags = "- --ignore-environment --debug",
        .values = "-u -C --unset --chdir"},
    {.names = "nohup"},
    {.names = "nice", .letters = "0123456789", .flags = "-n*", .values = "-n --adjustment"},
    {.names = "time",
        .letters = "apqv",
        .flags = "--append --portability --quiet --verbose",
        .values = "-o -f --output --format"},
};

static const struct interpreter interpreters[] = {
    {.names = "python pypy ipython",
        .letters = "bBdEiIOPqsSuvx3tR",
        .flags = "-W* -X*",
        .values = "-W -X --check-hash-based-pycs",
        .runs = "-m"},
    {.names = "sh bash dash zsh ksh ash",
        .letters = "abefhiklmnprtuvxBCEHPT",
        .flags = "--login --norc --noprofile --posix --verbose --restricted +*",
        .values = "-o +o -O +O --rcfile --init-file"},
    {.names = "perl",
        .letters = "wWTtUXsnpalSf",
        .flags = "-I* -M* -m* -i* -F* -d:*",
        .values = "-I"},
    {.names = "ruby",
        .letters = "wvdsSnpalU",
        .flags =
            "-I* -r* -W -W0 -W1 -W2 -W:* -E* -Ku -KU --enable* --disable* --yjit* --jit* --verbose",
        .values = "-I -r -E -C --encoding --external-encoding --internal-encoding"},
    {.names = "Rscript", .flags = "--*"},
    {.names = "R",
        .flags = "--no-* --vanilla --slave --quiet --silent --verbose --save --restore -q -s",
        .values = "-g --gui",
        .runs = "-f --file",
        .takes_no_script = true},
    {.names = "julia",
        .flags = "-O* -g* -t* -p* -L* -J* -C* -H* -q -i --project --quiet",
        .values = "-t -p -L -J -C -H --threads --procs --load --sysimage --cpu-target --home "
                  "--machine-file"},
    {.names = "node nodejs",
        .flags = "--inspect --inspect-brk --expose-gc --expose_gc --enable-source-maps --prof "
                 "--cpu-prof --heap-prof --harmony* --no-* --trace-warnings --trace-deprecation "
                 "--trace-uncaught --trace-gc --trace-exit --preserve-symlinks --watch "
                 "--experimental-vm-modules --experimental-strip-types",
        .values = "-r -C --require --import --loader --experimental-loader --conditions"},
    {.names = "java",
        .flags = "-X* -D* -ea* -da* -esa -dsa -server -client -javaagent:* -agentlib:* "
                 "-agentpath:* -verbose* --enable-preview @*",
        .values = "-cp -classpath --class-path -p --module-path --add-modules --add-opens "
                  "--add-exports --add-reads --limit-modules --upgrade-module-path",
        .runs = "-jar -m --module"},
    {.names = "php", .flags = "-n -q -C -d* -c*", .values = "-d -c -z", .runs = "-f --file"},
    {.names = "lua luajit", .letters = "iWE", .flags = "-l*", .values = "-l"},
    {.names = "torchrun",
        .flags = "--standalone",
        .values = "--nnodes --nproc-per-node --nproc_per_node --node-rank --node_rank "
                  "--rdzv-backend --rdzv_backend --rdzv-endpoint --rdzv_endpoint --rdzv-id "
                  "--rdzv_id --rdzv-conf --rdzv_conf --max-restarts --max_restarts "
                  "--monitor-interval --monitor_interval --start-method --start_method --role "
                  "--log-dir --log_dir -r --redirects -t --tee --master-addr --master_addr "
                  "--master-port --master_port --local-addr --local_addr",
        .runs = "-m --module"},
    {.names = "accelerate",
        .flags = "--cpu --multi_gpu --multi-gpu --tpu --use_deepspeed --use-deepspeed --use_fsdp "
                 "--use-fsdp --use_megatron_lm --use-megatron-lm --same_network --same-network "
                 "--no_python --no-python --quiet -q --debug",
        .values = "--config_file --config-file --num_processes --num-processes --num_machines "
                  "--num-machines --machine_rank --machine-rank --mixed_precision "
                  "--mixed-precision --dynamo_backend --dynamo-backend --gpu_ids --gpu-ids "
                  "--num_cpu_threads_per_process --num-cpu-threads-per-process "
                  "--main_process_ip --main-process-ip --main_process_port --main-process-port "
                  "--rdzv_backend --rdzv-backend --deepspeed_config_file --deepspeed-config-file "
                  "--zero_stage --zero-stage --gradient_accumulation_steps "
                  "--gradient-accumulation-steps",
        .runs = "-m --module",
        .command = "launch"},
};

/* Returns the next word of a list and its *length, or NULL at the end. */
static const char *next_of_list(const char *list, size_t *length)
{
    list += strspn(list, " ");
    *length = strcspn(list, " ");
    return *length ? list : NULL;
}

/* Returns whether a word is in a list; an item that ends in "*" matches any word that begins so. */
static bool list_has(const char *list, const char *word)
{
    size_t length;
    for (const char *at = list; at && (at = next_of_list(at, &length)); at += length) {
        bool is_begin = at[length - 1] == '*';
        size_t compared = length - is_begin;
        if (strncmp(at, word, compared) == 0 && (is_begin || !word[compared]))
            return true;
    }
    return false;
}

/* Returns whether `name` is any version of a program: python3.13t is python. */
static bool is_version_of(const char *name, const char *program, size_t length)
{
    if (strncmp(name, program, length) != 0)
        return false;
    const char *version = name + length;
    version += strspn(version, "0123456789.");
    return !*version || (version > name + length && strcmp(version, "t") == 0);
}

/* Returns the row of a program in any version, or NULL. */
static const struct interpreter *find(
    const struct interpreter *rows, size_t n_rows, const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    size_t length;
    name += name[0] == '-'; /* of a login shell */
    for (size_t i = 0; i < n_rows; i++) {
        const char *at = rows[i].names;
        for (; (at = next_of_list(at, &length)); at += length) {
            if (is_version_of(name, at, length))
                return &rows[i];
        }
    }
    return NULL;
}

/* Options whose value is run in place of a script: the words after them are its arguments. */
static const char says_what_runs[] = "--eval=* --print=* --run=* --file=* --module=* --code=* "
                                     "--execute=* --command=* --expression=* --check=* --test=*";

/* Returns whether `word` is an option that is no part of the name. *takes_next: its value is the
 * next word. */
static bool is_skipped(const struct interpreter *interpreter, const char *word, bool *takes_next)
{
    *takes_next = list_has(interpreter->values, word);
    if (*takes_next || list_has(interpreter->flags, word))
        return true;
    if (text_begins_with(word, "--") && strchr(word, '='))
        return !list_has(says_what_runs, word);

    /* Whether `word` is options of one letter that are joined, as -eu. *takes_next: the last of
     * them has the next word as its value, as -euo pipefail. */
    *takes_next = false;
    if (word[0] != '-' || !word[1] || !interpreter->letters)
        return false;
    size_t known = strspn(word + 1, interpreter->letters) + 1;
    if (word[known] && !word[known + 1]) {
        const char last[] = {'-', word[known], '\0'};
        *takes_next = list_has(interpreter->values, last);
        known += *takes_next;
    }
    return !word[known];
}

/* Returns the first word that is no option, or no known one. */
static const char *const *skip_options(
    const struct interpreter *interpreter, const char *const *arguments)
{
    const char *const *at = arguments;
    for (bool takes_next; *at && is_skipped(interpreter, *at, &takes_next); at++) {
        if (takes_next && at[1])
            at++;
    }
    return at;
}

/* Adds what the interpreter runs: a script, or an option and its value, as -m pytest. Returns how
 * many words the name has then. */
static size_t add_script(const struct interpreter *interpreter, const char *const *arguments,
    const char *words[COMMAND_NAME_WORDS])
{
    const char *const *at = arguments;
    if (interpreter->command && (!*at || strcmp(*at, interpreter->command) != 0))
        return 1;
    at = skip_options(interpreter, at + (interpreter->command != NULL));
    if (*at && list_has(interpreter->runs, *at)) {
        words[1] = at[0];
        words[2] = at[1];
        return at[1] ? 3 : 1;
    }

    if (*at && strcmp(*at, "--") == 0)
        at++;
    if (!*at || !at[0][0] || at[0][0] == '-' || interpreter->takes_no_script)
        return 1;
    words[1] = *at;
    return 2;
}

size_t command_name_of(const char *const *argv, const char *words[COMMAND_NAME_WORDS])
{
    size_t count = 0;
    if (argv && argv[0]) {
        /* Return the command that wrappers run, without their options and the variables that env
         * sets; the wrapper's own where it is not clear what that is. */
        const struct interpreter *wrapper;
        while ((wrapper = find(wrappers, sizeof wrappers / sizeof *wrappers, argv[0]))) {
            bool is_env = strcmp(wrapper->names, "env") == 0;
            const char *const *at = skip_options(wrapper, argv + 1);
            if (*at && strcmp(*at, "--") == 0)
                at++;
            while (*at && is_env && strchr(*at, '='))
                at++;
            if (!*at || !at[0][0] || at[0][0] == '-')
                break;
            argv = at;
        }

        const struct interpreter *interpreter =
            find(interpreters, sizeof interpreters / sizeof *interpreters, argv[0]);
        words[0] = argv[0];
        count = interpreter ? add_script(interpreter, argv + 1, words) : 1;
    }
    words[count] = NULL;
    return count;
}
