/*
 * NVIDIA GPUs as procfs and sysfs show them. Their library would resume suspended ones.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "machine/gpu/pci_address.h"
#include "model/card.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when the PCI bus has an NVIDIA GPU; writes the address of the first. False sets errno: 0, or
 * why the bus cannot be read. */
bool nvidia_gpu_find(const char *sysfs_root, char address[PCI_ADDRESS_TEXT_SIZE]);

/*
 * False when no device of NVIDIA is on the PCI bus, by <procfs>/bus/pci/devices: one file, where
 * nvidia_gpu_find() reads one of each device, of which servers have hundreds. True also where the
 * file does not say. nvidia_on_bus_parse(): the same by its text.
 */
bool nvidia_may_be_on_bus(const char *procfs_root);
bool nvidia_on_bus_parse(const char *text);

/* True when there are NVIDIA GPUs on the PCI bus and every one is suspended. */
bool nvidia_all_suspended(const char *sysfs_root);

/* The GPUs in <procfs>/driver/nvidia/gpus: address, name and, where shown, UUID. Returns how many
 * were filled in. */
uint32_t nvidia_list_suspended(
    const char *procfs_root, struct gpu_device *devices, uint32_t capacity);

/* Reads the text of <procfs>/driver/nvidia/gpus/ADDRESS/information into name and uuid. */
void nvidia_information_parse(const char *text, struct gpu_device *device);

/*
 * Errors of NVIDIA's cards in the kernel's log: "NVRM: Xid (PCI:0000:41:00): 79, …", which a driver
 * writes for each one. Who may read the log: root, and everybody where kernel.dmesg_restrict is 0.
 */

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
