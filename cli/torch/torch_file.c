#include "torch/torch_file.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 64 * 1024 };

static int fail_on(const char *path, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO, "%.400s: %s", path, strerror(errno));
}

/* Returns whether the head of a trace names its rank. */
static bool has_rank(char *head)
{
    char *events = strstr(head, "\"traceEvents\"");
    if (events)
        *events = '\0';
    bool found = strstr(head, "\"distributedInfo\"") != NULL;
    if (events)
        *events = '"';
    return found;
}

/* Writes the first chunk with the rank in it. */
static int copy_head(
    FILE *from, FILE *to, const char *path, long rank, long world_size, struct gput_error *error)
{
    char head[HEAD + 1];
    size_t length = fread(head, 1, HEAD, from);
    head[length] = '\0';
    /* Find where the members of the object begin; 0: it is no object. */
    size_t at = strspn(head, " \t\r\n");
    size_t members = at < length && head[at] == '{' ? at + 1 : 0;

    if (members == 0)
        return error_set(
            error, GPUT_ERROR_FORMAT, "%.400s is not a trace of PyTorch's profiler.", path);
    fwrite(head, 1, members, to);
    if (rank >= 0 && !has_rank(head))
        fprintf(to, "\n\"distributedInfo\": {\"rank\": %ld, \"world_size\": %ld},", rank,
            world_size > rank ? world_size : rank + 1);
    fwrite(head + members, 1, length - members, to);
    return GPUT_OK;
}

int torch_file_copy(
    const char *from, const char *to, long rank, long world_size, struct gput_error *error)
{
    char chunk[8192];
    size_t length;
    FILE *source = fopen(from, "re");
    FILE *target = source ? fopen(to, "wxe") : NULL;
    int code = target ? copy_head(source, target, from, rank, world_size, error)
                      : fail_on(source ? to : from, error);
    while (code == GPUT_OK && (length = fread(chunk, 1, sizeof chunk, source)) > 0)
        fwrite(chunk, 1, length, target);
    if (code == GPUT_OK && (ferror(source) || ferror(target)))
        code = fail_on(ferror(source) ? from : to, error);
    if (source)
        fclose(source);
    if (target && fclose(target) != 0 && code == GPUT_OK)
        code = fail_on(to, error);
    if (code != GPUT_OK && target)
        unlink(to);
    return code;
}

bool torch_file_has_operators(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    bool found = false;
    /* From one quote to the next: their category is a string by itself. */
    while (file && !found && getdelim(&text, &size, '"', file) > 0)
        found = strcmp(text, "cpu_op\"") == 0;
    free(text);
    if (file)
        fclose(file);
    return found;
}
