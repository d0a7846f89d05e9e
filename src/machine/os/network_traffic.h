/*
 * /proc/PID/net/dev: traffic of the interfaces of a process's network namespace: of all processes
 * that share it.
 */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* Since each interface came up; without the loopback. */
struct network_traffic {
    uint64_t received_bytes;
    uint64_t sent_bytes;
};

/* Reads a terminated text. GPUT_ERROR_FORMAT: the header of two lines is missing. A truncated line
 * is skipped. */
int network_traffic_parse(const char *text, struct network_traffic *traffic);

/* Reads the file from its start through a descriptor (procfs_open() of "net/dev"), which remains
 * bound to its network namespace after the process has ended. Errors: GPUT_ERROR_IO,
 * GPUT_ERROR_FORMAT. */
int network_traffic_reread(int fd, struct network_traffic *traffic);
