/*
 * Which process is to trace what, and when: the requests of the command line, the processes that
 * ask, and the ranks that they are.
 */
#pragma once

#include "torch/torch_protocol.h"

#include <gputracker/error.h>

enum { TORCH_MAX_REQUESTS = 8 };

/* "2s@60s": two seconds, a minute after the start; "5steps@100": five steps, from step 100 on. */
struct torch_request {
    bool by_step;
    int64_t amount; /* milliseconds or steps */
    int64_t start;  /* milliseconds after the command began, or the step */
};

/* A process that asks, in the life of one program: after an execve() it is another one. */
struct torch_client {
    char address[108]; /* of its socket, which is its own */
    struct torch_message message;
    long rank, world_size, local_size; /* of its job; -1: not known */
    size_t n_asked;                    /* questions so far, with the one that is to be answered */
    size_t n_given;  /* requests that are done with: the next one is of that number */
    size_t repeated; /* the caller's: the trace that is asked for again; 0: none */
};

struct torch_schedule {
    struct torch_request requests[TORCH_MAX_REQUESTS];
    int64_t joint_start_ms[TORCH_MAX_REQUESTS]; /* of all ranks, since the epoch; 0: none yet */
    size_t n_requests;
    bool is_rank;                 /* this tracker is of one rank: it waits for no other one */
    struct torch_client *clients; /* owned */
    size_t n_clients;
};

/* Adds a request. Errors: GPUT_ERROR_INVALID with examples. */
int torch_schedule_add(struct torch_schedule *schedule, const char *text, struct gput_error *error);

/* The process of that address, made at its first message. NULL without memory. */
struct torch_client *torch_schedule_client(struct torch_schedule *schedule, const char *address);

/*
 * What a process that can trace is to do next; NULL: nothing at the moment. A request by time is
 * done with. One by steps is ignored by a program that counts none yet: it is given again until the
 * caller counts it as given.
 * Requests by time are not given at the first question, during the import of PyTorch. They wait
 * for all ranks of the job on this machine, which then begin together:
 * `*joint_start_ms` is when, since the epoch; 0: at once.
 */
const struct torch_request *torch_schedule_next(struct torch_schedule *schedule,
    struct torch_client *client, int64_t since_start_ms, int64_t epoch_ms, int64_t *joint_start_ms);

/* Whether it only starts the ranks, as torchrun does. */
bool torch_schedule_is_launcher(
    const struct torch_schedule *schedule, const struct torch_client *client);

/* The rank that a process is. -1: none; also a process that a rank has started. */
long torch_schedule_rank(const struct torch_schedule *schedule, const struct torch_client *client);

/* The request as PyTorch reads it, with the file that it is to write. Returns the length. */
size_t torch_request_compose(const struct torch_request *request, int64_t joint_start_ms,
    const char *path, char *text, size_t size);

void torch_schedule_finish(struct torch_schedule *schedule);
