#include "line_ends.h"

struct line_ends line_ends_of(const struct termios *settings)
{
    tcflag_t wanted = OPOST | ONLCR;
    return (struct line_ends){.strips = (settings->c_oflag & wanted) == wanted};
}

size_t line_ends_strip(struct line_ends *ends, const char *bytes, size_t length, char *out)
{
    size_t written = 0;
    for (size_t i = 0; i < length; i++) {
        if (ends->has_return && bytes[i] != '\n')
            out[written++] = '\r';
        ends->has_return = ends->strips && bytes[i] == '\r';
        if (!ends->has_return)
            out[written++] = bytes[i];
    }
    return written;
}
