#include "machine/os/pressure.h"

#include "base/file.h"
#include "machine/os/scan.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 512

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=3351870307": the last one, which are microseconds.
 */
static double seconds_of_line(const char *text, const char *line)
{
    uint64_t microseconds;
    const char *at = strstr(text, line), *end = at ? strchr(at, '\n') : NULL;
    const char *total = at ? strstr(at, " total=") : NULL;
    if (!end || !total || total > end || !scan_uint64(total + strlen(" total="), &microseconds))
        return NAN;
    return (double)microseconds / 1e6;
}

struct pressure pressure_parse(const char *text)
{
    return (struct pressure){seconds_of_line(text, "some "), seconds_of_line(text, "full ")};
}

struct pressure pressure_read(const char *path)
{
    char text[TEXT_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    file_close_fd(&fd);
    text[length > 0 ? length : 0] = '\0';
    return pressure_parse(text);
}
