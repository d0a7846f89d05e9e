/*
 * What each user and each job of a machine uses, as a list of bounded length.
 */
#pragma once

/* Maximum number of users, and of jobs. The last entry of each, OWNERS_OTHER, adds up all that
 * have no entry of their own. */
#define OWNERS_MAX 64
#define OWNERS_OTHER "(other)"

/* A figure is NaN when it is not known. */
struct owner_figures {
    char user[64];
    char job[96]; /* id of a scheduler's job, a pod or a container; "": the figures are of a user */
    double processes;
    double cpu_seconds;   /* since the start; of processes that ended, up to their last poll */
    double ram_bytes;     /* RSS; pages that processes share count in each */
    double gpus;          /* number of GPUs on which they hold RAM */
    double gpu_ram_bytes; /* as listed by the drivers */
    /* Sum of the utilization of these GPUs; 1 is one GPU all the time. NaN where others also
     * hold RAM of one of them, because a driver does not say whose use it is. */
    double gpu_utilization;
};
