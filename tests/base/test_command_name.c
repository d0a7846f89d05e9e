#include "base/command_name.h"
#include "testing.h"

#include <stdio.h>
#include <string.h>

#define MAX_WORDS 16

/* The name of a command line whose words are separated by blanks; it is valid until the next call.
 */
static const char *name_of(const char *command)
{
    static char name[256];
    static char line[256];
    const char *argv[MAX_WORDS] = {NULL}, *words[COMMAND_NAME_WORDS];
    size_t n_words = 0, used = 0;
    snprintf(line, sizeof line, "%s", command);
    for (char *word = strtok(line, " "); word && n_words + 1 < MAX_WORDS; word = strtok(NULL, " "))
        argv[n_words++] = word;
    command_name_of(argv, words);
    name[0] = '\0';
    for (size_t i = 0; words[i]; i++)
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%s", i ? " " : "", words[i]);
    return name;
}

static void assert_names(const char *const rows[][2], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = name_of(rows[i][0]);
        if (strcmp(name, rows[i][1]) != 0)
            fail_msg("\"%s\" is called \"%s\", not \"%s\"", rows[i][0], name, rows[i][1]);
    }
}

#define ASSERT_NAMES(rows) assert_names(rows, sizeof(rows) / sizeof *(rows))

TEST(an_interpreter_is_named_with_its_script)
{
    static const char *const rows[][2] = {
        {"python train.py --epochs 3", "python train.py"},
        {"python3.11 -u train.py", "python3.11 train.py"},
        {"/usr/bin/python3.13t -Bu -W error -X dev /home/me/train.py token",
            "/usr/bin/python3.13t /home/me/train.py"},
        {"python -- train.py token", "python train.py"},
        {"pypy3 train.py", "pypy3 train.py"},
        {"bash build.sh token", "bash build.sh"},
        {"bash -euo pipefail build.sh", "bash build.sh"},
        {"-bash +x +o noglob --rcfile rc build.sh", "-bash build.sh"},
        {"perl -w -Ilib -MList::Util=sum count.pl token", "perl count.pl"},
        {"ruby -W0 -r json count.rb token", "ruby count.rb"},
        {"Rscript --vanilla --default-packages=stats fit.R token", "Rscript fit.R"},
        {"R --no-save -f fit.R --args token", "R -f fit.R"},
        {"julia --project -t 4 -O3 fit.jl token", "julia fit.jl"},
        {"node --eval=code token", "node"},
        {"php --file=x.php token", "php"},
        {"java --module=app/Main token", "java"},
        {"julia --print=1 token", "julia"},
        {"node --max-old-space-size=4096 -r dotenv server.js token", "node server.js"},
        {"php -d memory_limit=1G count.php token", "php count.php"},
        {"lua5.4 -l json count.lua token", "lua5.4 count.lua"},
    };
    ASSERT_NAMES(rows);
}

TEST(a_module_or_an_archive_is_named_with_its_option)
{
    static const char *const rows[][2] = {
        {"python3 -u -m pytest -k token", "python3 -m pytest"},
        {"java -Xmx4g -cp lib.jar -jar server.jar token", "java -jar server.jar"},
        {"java -cp lib.jar org.example.Main token", "java org.example.Main"},
        {"java -p modules -m app/org.example.Main token", "java -m app/org.example.Main"},
    };
    ASSERT_NAMES(rows);
}

TEST(a_launcher_of_scripts_is_named_with_its_script)
{
    static const char *const rows[][2] = {
        {"torchrun --standalone --nproc-per-node 2 train.py token", "torchrun train.py"},
        {"torchrun --nproc_per_node=2 -m package.train token", "torchrun -m package.train"},
        {"accelerate launch train.py token", "accelerate train.py"},
        {"accelerate launch --multi_gpu --num_processes 2 --gpu_ids=0,1 train.py token",
            "accelerate train.py"},
        {"accelerate launch -m package.train token", "accelerate -m package.train"},
        {"accelerate test train.py", "accelerate"},
        {"accelerate launch", "accelerate"},
        {"accelerate", "accelerate"},
    };
    ASSERT_NAMES(rows);
}

TEST(what_a_wrapper_runs_has_the_name)
{
    static const char *const rows[][2] = {
        {"env A=b TOKEN=1 python3 t.py token", "python3 t.py"},
        {"/usr/bin/env -i -u HOME --chdir=/tmp A=b python3 t.py", "python3 t.py"},
        {"env python3 a=b.py", "python3 a=b.py"},
        {"nohup python3 t.py", "python3 t.py"},
        {"nice -n 5 python3 t.py", "python3 t.py"},
        {"nice -n5 -- python3 t.py", "python3 t.py"},
        {"nice -19 python3 t.py", "python3 t.py"},
        {"nice --adjustment=5 ./simulate token", "./simulate"},
        {"time python3 t.py", "python3 t.py"},
        {"/usr/bin/time -v -o times python3 t.py", "python3 t.py"},
        {"nohup env A=b nice torchrun train.py", "torchrun train.py"},
        {"env -S token python3 t.py", "env"},
        {"env TOKEN=1", "env"},
        {"nohup nice --token", "nice"},
        {"nice", "nice"},
    };
    ASSERT_NAMES(rows);
}

TEST(code_in_an_argument_is_no_script)
{
    static const char *const rows[][2] = {
        {"python -c token", "python"},
        {"python -uc token", "python"},
        {"sh -c token", "sh"},
        {"bash -lc token", "bash"},
        {"bash -s token", "bash"},
        {"perl -ne token file", "perl"},
        {"perl -0777ne token file", "perl"},
        {"perl -de token", "perl"},
        {"ruby -W0e token", "ruby"},
        {"Rscript -e token", "Rscript"},
        {"R -e token", "R"},
        {"julia -E token", "julia"},
        {"node -p token", "node"},
        {"php -r token", "php"},
    };
    ASSERT_NAMES(rows);
}

TEST(what_follows_an_unknown_option_may_be_its_value)
{
    static const char *const rows[][2] = {
        {"python --password token train.py", "python"},
        {"node --api-key token server.js", "node"},
        {"java --token token Main", "java"},
        {"torchrun --key token train.py", "torchrun"},
    };
    ASSERT_NAMES(rows);
}

TEST(other_programs_are_named_alone)
{
    static const char *const rows[][2] = {
        {"./simulate token", "./simulate"},
        {"pythonic train.py", "pythonic"},
        {"environment TOKEN=1 python train.py", "environment"},
        {"mpirun -np 2 python train.py", "mpirun"},
        {"cat train.py", "cat"},
        {"python - token", "python"},
        {"python", "python"},
        {"python -m", "python"},
        {"python -W", "python"},
        {"R train.R", "R"},
    };
    ASSERT_NAMES(rows);
}

TEST(a_command_without_words_has_no_name)
{
    const char *words[COMMAND_NAME_WORDS] = {""}, *const none[] = {NULL};
    const char *const empty_script[] = {"python", "", NULL};
    assert_int_equal(command_name_of(NULL, words), 0);
    assert_null(words[0]);
    assert_int_equal(command_name_of(none, words), 0);
    assert_int_equal(command_name_of(empty_script, words), 1);
}

RUN_TESTS(NULL, NULL)
