/*
 * A lock that one process of a machine holds, among those that name it alike: a locked file in a
 * folder of this machine alone. The kernel gives it up when its holder ends, however that ends. A
 * fork of the holder does not have it. It is never waited for.
 */
#pragma once

#include <stdbool.h>

struct node_lock {
    char name[480];  /* of the file, without its number; "": there is no folder for it */
    char path[512];  /* of the file that was opened last */
    char holder[64]; /* as the other holder calls itself; "": there is none, or it is us */
    int fd;          /* -1: not open */
    bool is_held;
};

/* The folders where such files are: the first that can be written to, in the order given. NULL at
 * the end. */
extern const char *const node_lock_folders[];

/* `name` identifies the lock among those of this user; nothing is opened yet. */
void node_lock_init(struct node_lock *lock, const char *const *folders, const char *name);

/*
 * Takes the lock where it is free, or sees whether it is still ours. `self` is what others read
 * as `holder`. False: another process has it. Where no file can be made, each process has the lock
 * for itself.
 */
bool node_lock_try(struct node_lock *lock, const char *self);

/* Gives it up, and removes the file if it was ours. */
void node_lock_release(struct node_lock *lock);
