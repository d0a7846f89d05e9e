#include "base/random.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void random_fill(void *bytes, size_t size)
{
    memset(bytes, 0, size);
    /* The system call: its function came with glibc 2.25. */
    if (syscall(SYS_getrandom, bytes, size, 0) == (long)size)
        return;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!read(fd, bytes, size);
    close(fd);
}

uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}
