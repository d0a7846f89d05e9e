#include "report.h"

#include "message.h"

#include <gputracker/file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a list with blanks between its words has this one. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *found = list; (found = strstr(found, word)); found++) {
        bool begins = found == list || found[-1] == ' ';
        if (begins && (found[length] == ' ' || found[length] == '\0'))
            return true;
    }
    return false;
}

int report_refuse_pickle(struct gput_error *error)
{
    return fail(error, GPUT_ERROR_INVALID,
        "A pickle is not for the screen: give the file that it should go to with -o.");
}

int report_read_format(const struct arguments *arguments, enum option_id id,
    enum gput_format *format, struct gput_error *error)
{
    static const char *const words[] = {[GPUT_TEXT] = "text",
        [GPUT_JSON] = "json",
        [GPUT_CSV] = "csv",
        [GPUT_PICKLE] = "pickle",
        [GPUT_PROMETHEUS] = "prometheus"};
    const char *word = arguments_value(arguments, id);
    const char *output = arguments_value(arguments, OPTION_OUTPUT);
    bool valid = !word;
    *format = GPUT_TEXT;
    for (size_t i = 0; word && i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i]) == 0 && has_word(option(id)->words, word)) {
            *format = (enum gput_format)i;
            valid = true;
        }
    }
    if (!valid)
        return fail(error, GPUT_ERROR_INVALID,
            "\"%s\" is not a valid format. Valid values are \"json\" or \"text\".", word);
    bool to_stdout = !output || strcmp(output, "-") == 0;
    if (*format == GPUT_PICKLE && to_stdout && isatty(STDOUT_FILENO))
        return report_refuse_pickle(error);
    return GPUT_OK;
}

int report_check_output(const char *path, struct gput_error *error)
{
    return !path || strcmp(path, "-") == 0 ? GPUT_OK : gput_file_check(path, error);
}

/* A pipe whose reader has gone, or a terminal that hung up. */
static bool nobody_reads(int fd, int failure)
{
    struct stat info;
    return failure == EPIPE || (failure == EIO && fstat(fd, &info) == 0 && S_ISCHR(info.st_mode));
}

static int write_to_screen(int fd, const char *bytes, size_t length, struct gput_error *error)
{
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail(error, nobody_reads(fd, errno) ? GPUT_ERROR_STATE : GPUT_ERROR_IO,
                "Cannot write the report: %s", strerror(errno));
        bytes += done;
        length -= (size_t)done;
    }
    return GPUT_OK;
}

int report_write_bytes(
    const char *path, int screen_fd, const char *bytes, size_t length, struct gput_error *error)
{
    if (path && strcmp(path, "-") != 0)
        return gput_file_write(path, bytes, length, error);
    return write_to_screen(path ? STDOUT_FILENO : screen_fd, bytes, length, error);
}

int report_write_text(const char *path, int screen_fd, const char *text, struct gput_error *error)
{
    return report_write_bytes(path, screen_fd, text, strlen(text), error);
}

/* What could not be written where it belongs; a pickle as text. */
static void write_to_standard_error(const struct gput_results *results,
    const struct gput_processes *processes, enum gput_format format)
{
    struct gput_error no_matter;
    char *text;
    size_t length;
    if (format == GPUT_PICKLE)
        format = GPUT_TEXT;
    if (gput_results_render_processes(results, processes, format, &text, &length, &no_matter) ==
        GPUT_OK)
        write_to_screen(STDERR_FILENO, text, length, &no_matter);
    free(text);
}

int report_write(const struct gput_results *results, const struct gput_processes *processes,
    enum gput_format format, const char *path, int screen_fd, struct gput_error *error)
{
    char *bytes;
    size_t length;
    int code = gput_results_render_processes(results, processes, format, &bytes, &length, error);
    if (code != GPUT_OK)
        return code;
    code = report_write_bytes(path, screen_fd, bytes, length, error);
    if (code != GPUT_OK && path)
        write_to_standard_error(results, processes, format);
    free(bytes);
    return code;
}

int report_write_session(struct gput_session *session, const struct gput_results *results,
    bool has_processes, enum gput_format format, const char *path, int screen_fd,
    struct gput_error *error)
{
    struct gput_processes *processes = NULL;
    int code = has_processes ? gput_session_processes(session, &processes, error) : GPUT_OK;
    if (code == GPUT_OK)
        code = report_write(results, processes, format, path, screen_fd, error);
    gput_processes_free(processes);
    return code;
}
