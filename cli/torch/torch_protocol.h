/*
 * The messages between PyTorch's profiler (Kineto) and a daemon that may ask it for traces. With
 * KINETO_USE_DAEMON=1, a program that has loaded PyTorch asks every five seconds whether to trace.
 * A message is one datagram: the length of its content (8 bytes), its kind as a text (32 bytes),
 * and its content, in the byte order of the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum torch_message_kind {
    TORCH_OTHER,   /* of an unknown kind */
    TORCH_CONTEXT, /* "ctxt": a process announces itself; the answer is the number of processes on
                      its GPU */
    TORCH_REQUEST, /* "req": it asks; the answer is its task, lines of NAME=VALUE */
};

/* Maximum number of processes that are read of a request: the process, its parent, its parent's
 * … */
enum { TORCH_MAX_PROCESSES = 32 };

/* Maximum size of a message with its head. */
enum { TORCH_MESSAGE_SIZE = 8192 };

struct torch_message {
    enum torch_message_kind kind;
    bool can_trace; /* in a request: it is not tracing now */
    size_t n_processes;
    int32_t processes[TORCH_MAX_PROCESSES]; /* pids in its own namespace; the first is the process
                                               that asks */
};

/* Parses a datagram. Returns false if it is malformed. */
bool torch_message_parse(const void *bytes, size_t length, struct torch_message *message);

/* Composes an answer. Returns its length; 0: the content is too long. */
size_t torch_message_compose(enum torch_message_kind kind, const void *content, size_t length,
    unsigned char message[TORCH_MESSAGE_SIZE]);
