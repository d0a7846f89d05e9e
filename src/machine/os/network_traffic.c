#include "machine/os/network_traffic.h"

#include "base/file.h"
#include "machine/os/scan.h"

#include <string.h>

/* Several hundred interfaces; more are skipped. */
#define TEXT_BYTES 65536
/* "sent bytes" is the ninth number of a line. */
#define SENT_AT 8

/* Parses the numbers after "eth0:". False: the line is cut off. */
static bool parse_line(const char *at, struct network_traffic *traffic)
{
    uint64_t numbers[SENT_AT + 1];
    for (size_t i = 0; i <= SENT_AT; i++) {
        at = scan_uint64(scan_blanks(at), &numbers[i]);
        if (!at)
            return false;
    }
    traffic->received_bytes += numbers[0];
    traffic->sent_bytes += numbers[SENT_AT];
    return true;
}

int network_traffic_parse(const char *text, struct network_traffic *traffic)
{
    *traffic = (struct network_traffic){0};
    const char *line = strchr(text, '\n');
    line = line ? strchr(line + 1, '\n') : NULL;
    if (!line || !memchr(text, '|', (size_t)(line - text)))
        return GPUT_ERROR_FORMAT;
    for (; line; line = strchr(line, '\n')) {
        line = scan_blanks(line + 1);
        size_t name = strcspn(line, ":\n");
        if (line[name] == ':' && !(name == 2 && memcmp(line, "lo", 2) == 0))
            parse_line(line + name + 1, traffic);
        line += name;
    }
    return GPUT_OK;
}

int network_traffic_reread(int fd, struct network_traffic *traffic)
{
    char text[TEXT_BYTES];
    size_t length;
    /* Not procfs_reread(): the kernel gives a page at a time, which is some 30 interfaces. */
    TRY(file_read_at(fd, "net/dev", text, sizeof text - 1, 0, &length, NULL));
    text[length] = '\0';
    return network_traffic_parse(text, traffic);
}
