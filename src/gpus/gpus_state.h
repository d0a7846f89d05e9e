/*
 * What was read of the GPUs of this machine: the public type inside of the library.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "machine/os/passwd.h"

#include <gputracker/gpus.h>

/* A process on a GPU. */
struct gpus_process {
    uint32_t gpu; /* index of the GPU */
    pid_t pid;
    char user[64]; /* "": not known */
    char *command; /* owned; NULL: not known */
    double ram_bytes, sm_percent;
};

struct gput_gpus {
    char *procfs_root; /* owned */
    struct gpu_set *set;
    bool with_parts; /* gpu_parts: figures of parts of the chip, too; from the second reading on */
    struct gpu_sample sample;
    char missing[700];   /* why there is no GPU */
    double time_seconds; /* of it, since the epoch */
    struct passwd_users users;
    struct gpus_process *processes; /* owned; ascending by GPU and pid */
    size_t n_processes;
};
