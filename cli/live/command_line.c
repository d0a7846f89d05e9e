#include "command_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *command_line_read(const char *procfs, pid_t pid)
{
    char path[4096], text[1025];
    snprintf(path, sizeof path, "%s/%d/cmdline", procfs, (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && text[length - 1] == '\0')
        length--;
    if (length == 0)
        return NULL;
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] == '\0' ? ' ' : text[i];
    text[length] = '\0';
    /* Where the program is says less than what follows it. */
    const char *slash = text[0] == '/' ? memrchr(text, '/', strcspn(text, " ")) : NULL;
    return strdup(slash && slash[1] && slash[1] != ' ' ? slash + 1 : text);
}
