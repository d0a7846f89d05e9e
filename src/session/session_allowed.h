/*
 * What a process may use of the machine: control groups, CPU affinity, Slurm's allocation.
 */
#pragma once

#include "machine/os/cgroup.h"
#include "machine/os/launcher.h"
#include "session/ledger/session_settings.h"

/* Sets `settings->allowed`, and the least of it in the static data where that is less than the
 * machine has. `cgroup`: the groups of the process. */
void session_allowed_read(struct session_settings *settings, pid_t pid, const struct cgroup *cgroup,
    launcher_variable *variable, void *environment);

/* The same of GPUs alone, again when they were found later. Those that the caller named are not
 * limited by what the process sees. */
void session_allowed_read_gpus(
    struct session_settings *settings, launcher_variable *variable, void *environment);

/* Nothing limits. */
void session_allowed_forget(struct session_settings *settings);

/* Sets the cores that hardware percent is relative to: those asked for, else those allowed, rounded
 * up to whole cores. */
void session_allowed_expect(struct session_settings *settings);
