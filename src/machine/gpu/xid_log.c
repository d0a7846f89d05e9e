#include "machine/gpu/xid_log.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A record of the kernel's log is shorter. */
#define RECORD_SIZE 8192
/* Records at once: a flood of them waits for the next reading. */
#define MAX_RECORDS 1000

void xid_log_open(struct xid_log *log, const char *path)
{
    *log = (struct xid_log){.fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    if (log->fd < 0 || lseek(log->fd, 0, SEEK_END) >= 0)
        return;
    close(log->fd);
    log->fd = -1;
}

void xid_log_close(struct xid_log *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

bool xid_parse(const char *line, size_t length, struct pci_address *address, uint32_t *xid)
{
    static const char sign[] = "NVRM: Xid (";
    char text[128];
    const char *at = memmem(line, length, sign, strlen(sign));
    if (!at)
        return false;
    at += strlen(sign);
    size_t left = length - (size_t)(at - line);
    snprintf(text, sizeof text, "%.*s", (int)(left < sizeof text ? left : sizeof text - 1), at);
    const char *place = strncmp(text, "PCI:", 4) == 0 ? text + 4 : text;
    *address = (struct pci_address){0};
    return sscanf(place, "%8x:%2x:%2x): %9u", &address->domain, &address->bus, &address->device,
               xid) == 4;
}

/* Counts an error; those of more cards than there is space for are left out. */
static void add(struct xid_log *log, const struct pci_address *address, uint32_t xid)
{
    size_t i = 0;
    while (i < log->n_cards && !pci_address_equal(&log->cards[i].address, address))
        i++;
    if (i == XID_MAX_CARDS)
        return;
    if (i == log->n_cards)
        log->cards[log->n_cards++] = (struct xid_card){.address = *address};
    log->cards[i].n_errors++;
    log->cards[i].last = xid;
}

void xid_log_update(struct xid_log *log)
{
    char text[RECORD_SIZE];
    for (int i = 0; i < MAX_RECORDS && log->fd >= 0; i++) {
        /* The kernel gives one record a call. EPIPE: older ones were overwritten. */
        ssize_t length = read(log->fd, text, sizeof text);
        if (length < 0 && (errno == EPIPE || errno == EINTR))
            continue;
        if (length <= 0)
            return;
        for (const char *line = text, *end = text + length; line < end;) {
            const char *newline = memchr(line, '\n', (size_t)(end - line));
            const char *line_end = newline ? newline : end;
            struct pci_address address;
            uint32_t xid;
            if (xid_parse(line, (size_t)(line_end - line), &address, &xid))
                add(log, &address, xid);
            line = line_end + 1;
        }
    }
}

void xid_log_fill(const struct xid_log *log, const char *pci_address, struct card_reading *reading)
{
    static const char unreadable[] = "the kernel's log (/dev/kmsg) cannot be read: as root it can, "
                                     "or with kernel.dmesg_restrict=0";
    struct pci_address address;
    bool is_known = log->fd >= 0 && pci_address_parse(pci_address, &address);
    reading->values[CARD_XID_ERRORS] = is_known ? 0 : NAN;
    reading->values[CARD_LAST_XID] = NAN;
    reading->missing[CARD_XID_ERRORS] = reading->missing[CARD_LAST_XID] =
        is_known ? NULL : unreadable;
    for (size_t i = 0; i < log->n_cards && is_known; i++) {
        if (!pci_address_equal(&log->cards[i].address, &address))
            continue;
        reading->values[CARD_XID_ERRORS] = log->cards[i].n_errors;
        reading->values[CARD_LAST_XID] = log->cards[i].last;
    }
}
