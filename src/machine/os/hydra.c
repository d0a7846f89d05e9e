#include "machine/os/hydra.h"

#include "base/str.h"
#include "base/text.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <string.h>

/* A rank may be started by scripts in scripts, but not by so many. */
#define MAX_PARENTS 32

static bool is_proxy(const char *program)
{
    const char *slash = strrchr(program, '/');
    return strncmp(slash ? slash + 1 : program, "hydra_", 6) == 0;
}

bool hydra_parse(const char *line, size_t length, char *address, size_t size)
{
    const char *end = line + length;
    bool is_next = false;
    for (const char *word = line; word < end && memchr(word, '\0', (size_t)(end - word));
         word += strlen(word) + 1) {
        if (word == line && !is_proxy(word))
            return false;
        if (is_next && word[0]) {
            text_fit(address, size, "%s", word);
            return true;
        }
        is_next = strcmp(word, "--control-port") == 0;
    }
    return false;
}

int hydra_read(struct bounded_calls *calls, const char *root, pid_t pid, char *address, size_t size,
    struct gput_error *error)
{
    struct str line = {0};
    struct proc_stat stat = {.ppid = pid};
    int code = GPUT_OK;
    bool is_found = false;
    for (int i = 0; i < MAX_PARENTS && stat.ppid > 1 && code == GPUT_OK && !is_found; i++) {
        if (procfs_read_bounded(calls, root, stat.ppid, "cmdline", &line, error) == GPUT_OK)
            is_found = hydra_parse(str_text(&line), line.length, address, size);
        code = proc_stat_read_bounded(calls, root, stat.ppid, &stat, error);
    }
    str_finish(&line);
    if (is_found || code != GPUT_OK)
        return is_found ? GPUT_OK : code;
    return error_set(
        error, GPUT_ERROR_NOT_FOUND, "No proxy of Hydra started process %ld.", (long)pid);
}
