#include <gputracker/gputracker.h>

const char *gput_version(void)
{
    return GPUT_VERSION;
}
