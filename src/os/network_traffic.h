/*
 * /proc/PID/net/dev: bytes that the network interfaces of a process's network namespace moved. They
 * are of everybody who shares it, not of the process.
 */
#ifndef OS_NETWORK_TRAFFIC_H
#define OS_NETWORK_TRAFFIC_H

#include "base/error.h"

#include <stdint.h>

/* Since each interface came up; without the loopback. */
struct network_traffic {
    uint64_t received_bytes;
    uint64_t sent_bytes;
};

/* Reads a terminated text. GPUT_ERROR_FORMAT: none with a header of two lines. A line that is cut
 * is passed over. */
int network_traffic_parse(const char *text, struct network_traffic *traffic);

/* Reads the file from its start through a descriptor (procfs_open() of "net/dev"), which stays
 * bound to its network when the process has ended. Errors: see os/procfs.h; GPUT_ERROR_FORMAT. */
int network_traffic_reread(int fd, struct network_traffic *traffic);

#endif
