#include "report.h"

#include "message.h"

#include <gputracker/file.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int report_read_format(const char *word, enum gput_format *format, struct gput_error *error)
{
    *format = GPUT_TEXT;
    if (!word || strcmp(word, "text") == 0)
        return GPUT_OK;
    *format = GPUT_JSON;
    if (strcmp(word, "json") == 0)
        return GPUT_OK;
    return fail(error, GPUT_ERROR_INVALID,
        "\"%s\" is not a valid format. Valid values are \"json\" or \"text\".", word);
}

/* The folder that a file is in. False without memory. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static int check_folder(const char *path, struct gput_error *error)
{
    char *folder = folder_of(path);
    if (!folder)
        return fail(error, GPUT_ERROR_MEMORY, "Out of memory.");
    int code = GPUT_OK;
    if (access(folder, W_OK | X_OK) != 0)
        code = fail(error, errno == EACCES ? GPUT_ERROR_PERMISSION : GPUT_ERROR_NOT_FOUND,
            "Cannot write %s: the folder %s: %s", path, folder, strerror(errno));
    free(folder);
    return code;
}

int report_check_output(const char *path, struct gput_error *error)
{
    if (!path || strcmp(path, "-") == 0)
        return GPUT_OK;
    struct stat file;
    if (stat(path, &file) != 0)
        return check_folder(path, error);
    if (S_ISDIR(file.st_mode))
        return fail(error, GPUT_ERROR_INVALID, "Cannot write %s: it is a folder.", path);
    if (access(path, W_OK) != 0)
        return fail(error, GPUT_ERROR_PERMISSION, "Cannot write %s: %s", path, strerror(errno));
    return S_ISREG(file.st_mode) ? check_folder(path, error) : GPUT_OK;
}

static int write_to_screen(int fd, const char *text, struct gput_error *error)
{
    size_t length = strlen(text);
    while (length > 0) {
        ssize_t done = write(fd, text, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail(error, GPUT_ERROR_IO, "Cannot write the report: %s", strerror(errno));
        text += done;
        length -= (size_t)done;
    }
    return GPUT_OK;
}

int report_write_text(const char *path, int screen_fd, const char *text, struct gput_error *error)
{
    if (path && strcmp(path, "-") != 0)
        return gput_file_write(path, text, strlen(text), error);
    return write_to_screen(path ? STDOUT_FILENO : screen_fd, text, error);
}

int report_write(const struct gput_results *results, const struct gput_processes *processes,
    enum gput_format format, const char *path, int screen_fd, struct gput_error *error)
{
    char *text;
    int code = gput_results_render_processes(results, processes, format, &text, error);
    if (code != GPUT_OK)
        return code;
    code = report_write_text(path, screen_fd, text, error);
    struct gput_error no_matter;
    if (code != GPUT_OK && path)
        write_to_screen(STDERR_FILENO, text, &no_matter);
    free(text);
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
