/*
 * Hydra, the launcher of MPICH, gives its runs no id. On each machine a proxy of it starts the
 * ranks, and the command lines of all proxies of a run have the same address: that of its mpiexec.
 */
#pragma once

#include "base/bounded_calls.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Reads the command line of a proxy, as procfs has it: words, each with a NUL at its end. Writes
 * "HOST:PORT". False: it is of another program.
 */
bool hydra_parse(const char *line, size_t length, char *address, size_t size);

/*
 * That of the proxy that started a process or one of its parents. Errors: see machine/os/procfs.h;
 * GPUT_ERROR_NOT_FOUND: there is none, or it is not in sight, as from a container.
 */
int hydra_read(struct bounded_calls *calls, const char *root, pid_t pid, char *address, size_t size,
    struct gput_error *error);
