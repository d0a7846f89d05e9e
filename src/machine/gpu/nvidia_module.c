#include "machine/gpu/nvidia_module.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "machine/os/procfs.h"
#include "machine/os/sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NVIDIA_PCI_VENDOR 0x10de
#define PCI_CLASS_DISPLAY 0x03 /* VGA, 3D and other display controllers */

static bool is_nvidia_gpu(const char *folder)
{
    uint64_t vendor, class;
    return sysfs_read_uint64(folder, "vendor", &vendor) && vendor == NVIDIA_PCI_VENDOR &&
           sysfs_read_uint64(folder, "class", &class) && class >> 16 == PCI_CLASS_DISPLAY;
}

/* Sets errno, too. Counts NVIDIA GPUs and the suspended ones; `address`, when given, gets that of
 * the first. */
static void count_gpus(const char *sysfs_root, unsigned *gpus, unsigned *asleep, char *address)
{
    char bus[SYSFS_PATH_SIZE], folder[SYSFS_PATH_SIZE];
    *gpus = *asleep = 0;
    errno = 0;
    DIR *directory = sysfs_path(bus, sysfs_root, "bus/pci/devices") ? opendir(bus) : NULL;
    if (!directory) {
        errno = sysfs_failure(errno);
        return;
    }
    for (const struct dirent *entry; errno = 0, (entry = readdir(directory));) {
        struct pci_address parsed;
        if (!pci_address_parse(entry->d_name, &parsed) || !sysfs_path(folder, bus, entry->d_name) ||
            !is_nvidia_gpu(folder))
            continue;
        if (address && *gpus == 0)
            pci_address_format(&parsed, address);
        ++*gpus;
        *asleep += sysfs_is_suspended(folder);
    }
    int failure = errno;
    closedir(directory);
    errno = failure;
}

bool nvidia_on_bus_parse(const char *text)
{
    unsigned vendor;
    if (*text == '\0')
        return true;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (*line && (sscanf(line, "%*4x %4x", &vendor) != 1 || vendor == NVIDIA_PCI_VENDOR))
            return true;
    }
    return false;
}

bool nvidia_may_be_on_bus(const char *procfs_root)
{
    CLEANUP_STR struct str text = {0};
    bool may_be =
        procfs_read_all(procfs_root, PROCFS_SYSTEM, "bus/pci/devices", &text, NULL) != GPUT_OK ||
        nvidia_on_bus_parse(str_text(&text));
    return may_be;
}

bool nvidia_gpu_find(const char *sysfs_root, char address[PCI_ADDRESS_TEXT_SIZE])
{
    unsigned gpus, asleep;
    count_gpus(sysfs_root, &gpus, &asleep, address);
    return gpus > 0;
}

bool nvidia_all_suspended(const char *sysfs_root)
{
    unsigned gpus, asleep;
    count_gpus(sysfs_root, &gpus, &asleep, NULL);
    return gpus > 0 && asleep == gpus;
}

/* Copies the value of a line "key: value". */
static void copy_value(const char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);
    for (const char *line = text; *line;) {
        size_t line_length = strcspn(line, "\n");
        if (line_length > length && strncmp(line, key, length) == 0 && line[length] == ':') {
            const char *start = line + length + 1;
            start += strspn(start, " \t");
            snprintf(value, size, "%.*s", (int)strcspn(start, "\n"), start);
            return;
        }
        line += line_length + (line[line_length] == '\n');
    }
}

void nvidia_information_parse(const char *text, struct gpu_device *device)
{
    char uuid[sizeof device->uuid] = "";
    copy_value(text, "Model", device->name, sizeof device->name);
    copy_value(text, "GPU UUID", uuid, sizeof uuid);
    /* A GPU that was not used yet shows question marks. */
    if (uuid[0] && !strchr(uuid, '?'))
        memcpy(device->uuid, uuid, sizeof uuid);
}

uint32_t nvidia_list_suspended(
    const char *procfs_root, struct gpu_device *devices, uint32_t capacity)
{
    char root[SYSFS_PATH_SIZE], folder[SYSFS_PATH_SIZE], text[2048];
    uint32_t count = 0;
    DIR *directory = sysfs_path(root, procfs_root, "driver/nvidia/gpus") ? opendir(root) : NULL;
    if (!directory)
        return 0;
    for (const struct dirent *entry; count < capacity && (entry = readdir(directory));) {
        struct pci_address address;
        if (!pci_address_parse(entry->d_name, &address) || !sysfs_path(folder, root, entry->d_name))
            continue;
        struct gpu_device *device = &devices[count++];
        *device = (struct gpu_device){
            .name = "NVIDIA GPU",
            .vendor = GPU_VENDOR_NVIDIA,
            .ram_capacity_bytes = NAN,
            .source = "nvml",
        };
        pci_address_format(&address, device->pci_address);
        memcpy(device->uuid, device->pci_address, sizeof device->pci_address);
        long length = sysfs_read_bytes(folder, "information", text, sizeof text - 1);
        text[length > 0 ? length : 0] = '\0';
        nvidia_information_parse(text, device);
        for (int figure = 0; figure < GPU_FIGURE_COUNT; figure++)
            snprintf(device->missing[figure], sizeof device->missing[figure],
                "suspended, or its driver has not answered yet");
    }
    closedir(directory);
    return count;
}

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
