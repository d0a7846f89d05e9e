/*
 * Errors of NVIDIA's cards in the kernel's log: "NVRM: Xid (PCI:0000:41:00): 79, …", which a driver
 * writes for each one. Who may read the log: root, and everybody where kernel.dmesg_restrict is 0.
 */
#pragma once

#include "machine/gpu/pci_address.h"
#include "model/card.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XID_MAX_CARDS 64

struct xid_log {
    int fd; /* -1: it cannot be read */
    size_t n_cards;
    struct xid_card {
        struct pci_address address;
        uint32_t n_errors, last;
    } cards[XID_MAX_CARDS];
};

/* Opens the log ("/dev/kmsg") at its end: what is logged from now on counts. */
void xid_log_open(struct xid_log *log, const char *path);

void xid_log_close(struct xid_log *log);

/* Reads what was logged since; never waits. */
void xid_log_update(struct xid_log *log);

/* Sets the figures of the card with that PCI address. Before its first error there is no last one,
 * and no reason for that. */
void xid_log_fill(const struct xid_log *log, const char *pci_address, struct card_reading *reading);

/* Reads a line of the log, which need not be terminated; false: it is about something else. */
bool xid_parse(const char *line, size_t length, struct pci_address *address, uint32_t *xid);
