/*
 * What Slurm allocated on this machine, as it says in the environment. Where it makes no control
 * groups nothing enforces it.
 */
#pragma once

#include "machine/os/launcher.h"

/* NaN: not known. */
struct slurm_allocation {
    double cores;     /* that a task may use; in a batch script, all of the job on this machine */
    double ram_bytes; /* of the job on this machine */
};

void slurm_parse(launcher_variable *variable, void *user, struct slurm_allocation *allocation);
