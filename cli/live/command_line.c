#include "command_line.h"

#include "base/thread.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A process that waits in the kernel for storage makes those wait who read its command line. */
#define WAIT_MS 300

/* A reading by a thread of its own, which may never return. */
struct reading {
    int to_fd; /* of a pipe */
    char path[4096];
};

/* Reads the file in a thread of its own, since that may never return, and passes the text on. */
static void *run(void *user)
{
    struct reading *reading = user;
    char text[1024];
    int fd = open(reading->path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (got > 0)
        (void)!write(reading->to_fd, text, (size_t)got); /* it fits */
    if (fd >= 0)
        close(fd);
    close(reading->to_fd);
    free(reading);
    return NULL;
}

/* How many bytes were read; 0: none, or there is no answer. */
static ssize_t read_bounded(const char *procfs, pid_t pid, char *text, size_t size)
{
    int ends[2];
    struct reading *reading = malloc(sizeof *reading);
    if (!reading || pipe2(ends, O_CLOEXEC) != 0) {
        free(reading);
        return 0;
    }
    reading->to_fd = ends[1];
    snprintf(reading->path, sizeof reading->path, "%s/%d/cmdline", procfs, (int)pid);
    struct pollfd answer = {.fd = ends[0], .events = POLLIN};
    ssize_t got = 0;
    if (thread_start(NULL, THREAD_STACK_BYTES, run, reading) != 0) {
        close(ends[1]);
        free(reading);
    } else if (poll(&answer, 1, WAIT_MS) == 1) {
        got = read(ends[0], text, size);
    }
    close(ends[0]);
    return got;
}

/* Whether a program runs scripts: "python3.11", "bash" …. */
static bool is_interpreter(const char *program, size_t length)
{
    static const char *const names[] = {
        "python", "pypy", "bash", "sh", "dash", "zsh", "perl", "ruby", "node", "Rscript", "julia"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i]);
        if (length >= n && strncmp(program, names[i], n) == 0 &&
            strspn(program + n, "0123456789.") == length - n)
            return true;
    }
    return false;
}

/* Takes the folder off a word of a text. */
static void drop_folder(char *word)
{
    const char *slash = word[0] == '/' || strncmp(word, "./", 2) == 0
                            ? memrchr(word, '/', strcspn(word, " "))
                            : NULL;
    if (slash && slash[1] && slash[1] != ' ')
        memmove(word, slash + 1, strlen(slash + 1) + 1);
}

void command_line_clean(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        char byte = (unsigned char)*from < ' ' ? ' ' : *from;
        if (byte != ' ' || (to > text && to[-1] != ' '))
            *to++ = byte;
    }
    *to = '\0';
    drop_folder(text);
    size_t length = strcspn(text, " ");
    if (!is_interpreter(text, length))
        return;
    /* Behind options of one letter without a value of their own, as "-u". */
    char *word = text + length;
    while (word[0] == ' ' && word[1] == '-' && word[2] != 'c' && word[2] != 'm' &&
           strcspn(word + 1, " ") == 2)
        word += 3;
    if (word[0] == ' ')
        drop_folder(word + 1);
}

char *command_line_read(const char *procfs, pid_t pid)
{
    char text[1025];
    ssize_t got = read_bounded(procfs, pid, text, sizeof text - 1);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && text[length - 1] == '\0')
        length--;
    if (length == 0)
        return NULL;
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] == '\0' ? ' ' : text[i];
    text[length] = '\0';
    command_line_clean(text);
    return strdup(text);
}
