#include "output/python_package.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "common/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Modules of the working folder are not for us: somebody else may have put them there. */
#define SCRIPT                                                                                     \
    "import sys\n"                                                                                 \
    "sys.path = [path for path in sys.path if path]\n"                                             \
    "try:\n"                                                                                       \
    "    from gpu_tracker.%s import main\n"                                                        \
    "except ImportError as error:\n"                                                               \
    "    sys.exit(f'" PREFIX "The Python package gputracker %s, and {sys.executable} has none '\n" \
    "        f'that does: {error}. %s: GPUT_PYTHON=/path/to/python. %s')\n"                        \
    "sys.exit(main(sys.argv[1:]))\n"
#define PREFIX "gpu-tracker: "
#define SCRIPT_SIZE 1024

/* A program that is Python ends with that status. */
#define PYTHON_QUESTION "raise SystemExit(86)"
#define PYTHON_ANSWER 86

#define END_MS 2000 /* that Python has to end when it is asked to */

/* What was started is to give up by itself before: this is for what hangs in a library. */
#define FINISH_MS 240000

#define ARGUMENTS_BEFORE 3 /* Python, -c and the script */

extern char **environ;

/* Where whoever started us ignores the ends of children, the kernel keeps no status to wait for. */
static void restore_children(void (**before)(int))
{
    signal(SIGCHLD, *before);
}

/* What is executed for Python must be one: another program may end without a word. Where it cannot
 * be executed at all, its execution says why. */
static bool is_python(const char *python)
{
    const char *const words[] = {python, "-E", "-S", "-c", PYTHON_QUESTION, NULL};
    int status = 0;
    CLEANUP(restore_children) void (*before)(int) = signal(SIGCHLD, SIG_DFL);
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

/* The Python to execute, and its words up to the arguments' end, which the caller frees; the script
 * among them goes to `script`. */
static int make_command_line(const struct python_module *module, const char *const *arguments,
    char script[SCRIPT_SIZE], const char ***words, struct gput_error *error)
{
    const char *python = environment_path("GPUT_PYTHON");
    if (!python || !python[0])
        python = "python3";
    else if (!is_python(python))
        return error_set(error, GPUT_ERROR_INVALID,
            "GPUT_PYTHON=%.200s is not a Python interpreter: name one with the package gputracker, "
            "which %s. %s",
            python, module->does, module->otherwise);
    size_t count = 0;
    while (arguments[count])
        count++;
    *words = calloc(ARGUMENTS_BEFORE + count + 1, sizeof **words);
    if (!*words)
        return error_memory(error);
    snprintf(
        script, SCRIPT_SIZE, SCRIPT, module->name, module->does, module->remedy, module->otherwise);
    (*words)[0] = python;
    (*words)[1] = "-c";
    (*words)[2] = script;
    memcpy(*words + ARGUMENTS_BEFORE, arguments, count * sizeof **words);
    return GPUT_OK;
}

static int refuse_python(
    const struct python_module *module, const char *python, int failure, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "Cannot execute %.200s: %s. The Python package gputracker %s: GPUT_PYTHON=/path/to/python "
        "names a Python that has it. %s",
        python, strerror(failure), module->does, module->otherwise);
}

int python_package_execute(
    const struct python_module *module, const char *const *arguments, struct gput_error *error)
{
    char script[SCRIPT_SIZE];
    CLEANUP_FREE const char **words = NULL;
    TRY(make_command_line(module, arguments, script, &words, error));
    execvp(words[0], (char *const *)words);
    return refuse_python(module, words[0], errno, error);
}

/* ---- In another process ---- */

/* Closes the files of a process that has been waited for, or that was never started. */
static void close_streams(struct python_process *process)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (process->streams[fd] >= 0)
            close(process->streams[fd]);
    *process = (struct python_process){0};
}

/* Makes the three files in memory; the first one has the input. */
static int make_streams(
    struct python_process *process, const char *input, size_t length, struct gput_error *error)
{
    bool is_made = true;
    *process = (struct python_process){.streams = {-1, -1, -1}};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        process->streams[fd] = (int)syscall(SYS_memfd_create, "gpu-tracker", MFD_CLOEXEC);
        is_made = is_made && process->streams[fd] >= 0;
    }
    int code = is_made ? file_write_fd(process->streams[STDIN_FILENO], "figures for Python", input,
                             length, error)
                       : error_set(error, GPUT_ERROR_IO, "Cannot pass figures to Python: %s.",
                             strerror(errno));
    if (code == GPUT_OK)
        lseek(process->streams[STDIN_FILENO], 0, SEEK_SET);
    else
        close_streams(process);
    return code;
}

/* What was written to a file in memory, with a NUL after it: the caller's. NULL: out of memory. */
static char *read_stream(int fd, size_t *length)
{
    off_t end = lseek(fd, 0, SEEK_END);
    size_t size = end > 0 ? (size_t)end : 0;
    char *bytes = malloc(size + 1);
    *length = 0;
    while (bytes && *length < size) {
        ssize_t got = pread(fd, bytes + *length, size - *length, (off_t)*length);
        if (got <= 0)
            break;
        *length += (size_t)got;
    }
    if (bytes)
        bytes[*length] = '\0';
    return bytes;
}

/* Starts Python as if from a shell, whatever signals this process blocks and ignores; `is_apart`:
 * in a group of its own, with SIGUSR1 blocked. Returns what posix_spawn() does. */
static int start(const char *const *words, bool is_apart, struct python_process *process)
{
    static const int defaults[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t set;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0)
        return failure;
    if ((failure = posix_spawnattr_init(&attributes)) == 0) {
        sigemptyset(&set);
        if (is_apart)
            sigaddset(&set, SIGUSR1);
        posix_spawnattr_setsigmask(&attributes, &set);
        sigemptyset(&set);
        for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
            sigaddset(&set, defaults[i]);
        posix_spawnattr_setsigdefault(&attributes, &set);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                  (is_apart ? POSIX_SPAWN_SETPGROUP : 0));
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && failure == 0; fd++)
            failure = posix_spawn_file_actions_adddup2(&actions, process->streams[fd], fd);
        if (failure == 0)
            failure = posix_spawnp(
                &process->pid, words[0], &actions, &attributes, (char *const *)words, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return failure;
}

/* Fails with the last line that Python printed: of a traceback that is the reason. */
static int refuse_with_reason(int fd, int status, struct gput_error *error)
{
    size_t length;
    CLEANUP_FREE char *said = read_stream(fd, &length);
    while (said && length > 0 && said[length - 1] == '\n')
        said[--length] = '\0';
    const char *line = said ? strrchr(said, '\n') : NULL;
    line = line ? line + 1 : said;
    if (line && strncmp(line, PREFIX, sizeof PREFIX - 1) == 0)
        line += sizeof PREFIX - 1;
    if (line && line[0])
        return error_set(error, GPUT_ERROR_FORMAT, "%.900s", line);
    if (WIFSIGNALED(status))
        return error_set(
            error, GPUT_ERROR_FORMAT, "Python was ended by signal %d.", WTERMSIG(status));
    return error_set(error, GPUT_ERROR_FORMAT, "Python ended with exit status %d, without a word.",
        WEXITSTATUS(status));
}

/* Waits for Python, and returns its status. Once `stop_fd` can be read or the time is over (-1: it
 * never is), Python is asked to end, and killed if it does not. */
static int wait_for_end(pid_t child, int stop_fd, int max_ms)
{
    int status = 0;
    int fd = stop_fd >= 0 ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
    if (fd >= 0) {
        struct pollfd events[] = {{.fd = fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
        while (poll(events, 2, max_ms) < 0 && errno == EINTR)
            ;
        if (!events[0].revents) {
            kill(child, SIGTERM);
            if (poll(events, 1, END_MS) <= 0)
                kill(child, SIGKILL);
        }
        close(fd);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Starts Python with `input` as its standard input. */
static int start_with_input(const struct python_module *module, const char *const *arguments,
    const char *input, size_t length, bool is_apart, struct python_process *process,
    struct gput_error *error)
{
    char script[SCRIPT_SIZE];
    CLEANUP_FREE const char **words = NULL;
    TRY(make_command_line(module, arguments, script, &words, error));
    TRY(make_streams(process, input, length, error));
    int failure = start(words, is_apart, process);
    if (failure == 0)
        return GPUT_OK;
    close_streams(process);
    return refuse_python(module, words[0], failure, error);
}

/* Waits for the end of Python, and takes what it printed. */
static int take_output(struct python_process *process, int stop_fd, int max_ms, char **output,
    size_t *output_length, struct gput_error *error)
{
    int status = wait_for_end(process->pid, stop_fd, max_ms);
    int code =
        status == 0 ? GPUT_OK : refuse_with_reason(process->streams[STDERR_FILENO], status, error);
    if (code == GPUT_OK) {
        *output = read_stream(process->streams[STDOUT_FILENO], output_length);
        code = *output ? GPUT_OK : error_memory(error);
    }
    close_streams(process);
    return code;
}

int python_package_start(const struct python_module *module, const char *const *arguments,
    struct python_process *process, struct gput_error *error)
{
    return start_with_input(module, arguments, NULL, 0, true, process, error);
}

int python_package_finish(struct python_process *process, const char *input, size_t length,
    int stop_fd, char **output, size_t *output_length, struct gput_error *error)
{
    *output = NULL;
    int code =
        file_write_fd(process->streams[STDIN_FILENO], "figures for Python", input, length, error);
    if (code != GPUT_OK) {
        python_package_stop(process);
        return code;
    }
    kill(process->pid, SIGUSR1);
    return take_output(process, stop_fd, FINISH_MS, output, output_length, error);
}

void python_package_stop(struct python_process *process)
{
    if (process->pid <= 0)
        return;
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close_streams(process);
}

int python_package_run(const struct python_module *module, const char *const *arguments,
    const char *input, size_t length, int stop_fd, char **output, size_t *output_length,
    struct gput_error *error)
{
    struct python_process process;
    *output = NULL;
    CLEANUP(restore_children) void (*before)(int) = signal(SIGCHLD, SIG_DFL);
    TRY(start_with_input(module, arguments, input, length, false, &process, error));
    return take_output(&process, stop_fd, -1, output, output_length, error);
}
