/*
 * The messages between PyTorch's profiler (Kineto) and a daemon that may ask it for traces. With
 * KINETO_USE_DAEMON=1 a program that has loaded PyTorch asks every five seconds whether there is
 * something to trace. A message is one datagram: the number of bytes of its content (8 bytes), its
 * kind as a text (32 bytes), its content; all in the byte order of the machine.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum torch_message_kind {
    TORCH_OTHER,   /* of no known kind */
    TORCH_CONTEXT, /* "ctxt": a process is there; answered by the number of those on its GPU */
    TORCH_REQUEST, /* "req": it asks; answered by what it is to do, lines of NAME=VALUE */
};

/* The most processes of a request that are read: the process, its parent, its parent's … */
enum { TORCH_MAX_PROCESSES = 32 };

/* The longest message, with its head. */
enum { TORCH_MESSAGE_SIZE = 8192 };

struct torch_message {
    enum torch_message_kind kind;
    bool can_trace; /* of a request: it is not tracing now */
    size_t n_processes;
    int32_t processes[TORCH_MAX_PROCESSES]; /* the one that asks is the first; as it sees them */
};

/* Reads a datagram. False: it is malformed. */
bool torch_message_parse(const void *bytes, size_t length, struct torch_message *message);

/* Composes an answer. Returns its length; 0: the content is too long. */
size_t torch_message_compose(enum torch_message_kind kind, const void *content, size_t length,
    unsigned char message[TORCH_MESSAGE_SIZE]);
