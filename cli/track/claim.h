/*
 * Claims the name of a file or folder, so that no two trackers write to one, on whatever machines
 * they are: what is there is kept, and what another tracker has claimed is its own. A claim is the
 * file itself, made empty if it was missing, and locked until the claim is released. The kernel
 * releases it for a tracker that is killed.
 */
#pragma once

#include <stdbool.h>

struct claim {
    int fd;       /* of the file or folder; -1: nothing is claimed */
    bool is_made; /* it was missing */
};

#define CLAIM_NONE                                                                                 \
    (struct claim)                                                                                 \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/*
 * Claims a file: a new one, or one that is there and empty; with `replaces` any. Pipes, devices and
 * links to nothing are left alone: the claim stays empty. Returns 0 or an errno: EEXIST where the
 * name is taken, EBUSY where another tracker writes there.
 */
int claim_file(const char *path, bool replaces, struct claim *claim);

/* The same of a folder for a recording of power; one without a recording is not taken. */
int claim_recording(const char *path, bool replaces, struct claim *claim);

/* Claims the first free name: `path`, or what gput_rank_free_path() makes of it. `*name` is the
 * caller's. Returns 0 or an errno. */
int claim_free_file(const char *path, bool replaces, struct claim *claim, char **name);

/* Whether the claimed file is still the one of that name. */
bool claim_holds(const struct claim *claim, const char *path);

/* Removes what was made if it is still empty, and gives the name up. */
void claim_release(struct claim *claim, const char *path);
