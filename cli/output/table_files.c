#include "output/table_files.h"

#include "base/error.h"
#include "common/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Modules of the working folder are not for us: somebody else may have put them there. */
static const char script[] =
    "import sys\n"
    "sys.path = [path for path in sys.path if path]\n"
    "try:\n"
    "    from gpu_tracker._table_files import main\n"
    "except ImportError as error:\n"
    "    sys.exit('gpu-tracker: The Python package gputracker writes Parquet and Arrow files, and "
    "'\n"
    "        f'{sys.executable} has none that does: {error}. Install it there with pyarrow (pip '\n"
    "        'install gputracker pyarrow), or name a Python that has both: GPUT_PYTHON=/path/to/'\n"
    "        'python. The same tables as text: -f csv.')\n"
    "sys.exit(main(sys.argv[1:]))\n";

/* A program that is Python ends with that status. */
#define PYTHON_QUESTION "raise SystemExit(86)"
#define PYTHON_ANSWER 86

static void add_file(const char ***word, const char *kind, const char *name, const char *path)
{
    *(*word)++ = kind;
    *(*word)++ = name ? name : "";
    *(*word)++ = path;
}

/* The script, the format, the path; then each file as three words. NULL: out of memory. */
static const char **make_command_line(const char *python, const struct gput_report_options *options,
    const char *format, const char *path)
{
    size_t files = options->n_sessions + options->n_sub_tracking_files;
    const char **words = calloc(6 + 3 * files, sizeof *words), **word = words;
    if (!words)
        return NULL;
    *word++ = python;
    *word++ = "-c";
    *word++ = script;
    *word++ = format;
    *word++ = path;
    for (size_t i = 0; i < options->n_sessions; i++)
        add_file(&word, "session", options->sessions[i]->name, options->sessions[i]->path);
    for (size_t i = 0; i < options->n_sub_tracking_files; i++)
        add_file(&word, "stf", NULL, options->sub_tracking_files[i]);
    return words;
}

/* What is executed for Python must be one: another program may end without a word. Where it cannot
 * be executed at all, its execution says why. */
static bool is_python(const char *python)
{
    const char *const words[] = {python, "-E", "-S", "-c", PYTHON_QUESTION, NULL};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            dup2(nowhere, fd);
        execvp(python, (char *const *)words);
        _exit(PYTHON_ANSWER);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return true;
    return child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == PYTHON_ANSWER);
}

int table_files_execute(const struct gput_report_options *options, const char *format,
    const char *path, struct gput_error *error)
{
    const char *python = environment_path("GPUT_PYTHON");
    if (strcmp(path, "-") == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "-o names a folder for the tables, or a file x.%s for the samples.", format);
    if (!python || !python[0])
        python = "python3";
    else if (!is_python(python))
        return error_set(error, GPUT_ERROR_INVALID,
            "GPUT_PYTHON=%.200s is not a Python interpreter: name one with the package gputracker, "
            "which writes Parquet and Arrow files. The same tables as text: -f csv.",
            python);
    const char **words = make_command_line(python, options, format, path);
    if (!words)
        return error_memory(error);
    execvp(python, (char *const *)words);
    int code = errno;
    free(words);
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "Cannot execute %.200s: %s. The Python package gputracker writes Parquet and Arrow files: "
        "GPUT_PYTHON=/path/to/python names a Python that has it. The same tables as text: -f csv.",
        python, strerror(code));
}
