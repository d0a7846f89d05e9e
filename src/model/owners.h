/*
 * What each user, and each job, of a machine uses: a bounded list, whatever comes and goes.
 */
#pragma once

/* Of users and of jobs each. What is of none of them is of the last one, OWNERS_OTHER. */
#define OWNERS_MAX 64
#define OWNERS_OTHER "(other)"

/* A figure is NaN when it is not known. */
struct owner_figures {
    char user[64];
    char job[96]; /* the scheduler's id, a pod's or a container's; "": these are of a user */
    double processes;
    double cpu_seconds;   /* since the start; of processes that ended, up to their last poll */
    double ram_bytes;     /* RSS; pages that processes share count in each */
    double gpus;          /* on which they hold RAM */
    double gpu_ram_bytes; /* as drivers list it */
    /* Use of these GPUs, added up, 1 being one of them all of the time. NaN where others hold RAM
     * of one of them, too: whose use it is cannot be known. */
    double gpu_utilization;
};
