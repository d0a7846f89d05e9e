/*
 * Decides which process traces what and when, from the requests of the command line and the
 * processes that ask, with their ranks.
 */
#pragma once

#include "torch/torch_protocol.h"

#include <gputracker/error.h>

enum { TORCH_MAX_REQUESTS = 8 };

/* "2s@60s": two seconds, a minute after the start; "5steps@100": five steps, from step 100 on. */
struct torch_request {
    bool by_step;
    int64_t amount; /* milliseconds or steps */
    int64_t start;  /* milliseconds after the command began, or a step */
};

/* A process that asks, during one program: after an execve() it is another client. */
struct torch_client {
    char address[108]; /* address of its socket, which is unique */
    struct torch_message message;
    long rank, world_size, local_size; /* in its job; -1: not known */
    size_t n_asked;                    /* number of questions so far, including the current one */
    size_t n_given;  /* number of requests it was given, hence the index of the next one */
    size_t repeated; /* used by the caller: number of the trace that is requested again; 0: none */
};

struct torch_schedule {
    struct torch_request requests[TORCH_MAX_REQUESTS];
    int64_t joint_start_ms[TORCH_MAX_REQUESTS]; /* common start of all ranks, since the epoch; 0:
                                                   not set yet */
    size_t n_requests;
    bool is_rank;                 /* this tracker is for one rank, and waits for no other */
    struct torch_client *clients; /* owned */
    size_t n_clients;
};

/* Adds a request. Errors: GPUT_ERROR_INVALID with examples. */
int torch_schedule_add(struct torch_schedule *schedule, const char *text, struct gput_error *error);

/* Returns the process of that address, adding it at its first message. NULL without memory. */
struct torch_client *torch_schedule_client(struct torch_schedule *schedule, const char *address);

/*
 * Returns the next request for a process that can trace; NULL: none at the moment. A request by
 * time then counts as given. A request by steps is ignored by a program that does not count steps
 * yet, so it is returned again until the caller counts it as given. Requests by time are not
 * returned at the first question, which comes during the import of PyTorch. They wait for all ranks
 * of the job on this machine, which then begin together: `*joint_start_ms` is set to the time,
 * since the epoch; 0: at once.
 */
const struct torch_request *torch_schedule_next(struct torch_schedule *schedule,
    struct torch_client *client, int64_t since_start_ms, int64_t epoch_ms, int64_t *joint_start_ms);

/* Whether the process only starts the ranks, as torchrun does. */
bool torch_schedule_is_launcher(
    const struct torch_schedule *schedule, const struct torch_client *client);

/* Returns the rank of a process; -1: it has none, or was started by a rank. */
long torch_schedule_rank(const struct torch_schedule *schedule, const struct torch_client *client);

/* Writes the request as PyTorch reads it, with the path of the trace. Returns the length; 0: it
 * does not fit. */
size_t torch_request_compose(const struct torch_request *request, int64_t joint_start_ms,
    const char *path, char *text, size_t size);

void torch_schedule_finish(struct torch_schedule *schedule);
