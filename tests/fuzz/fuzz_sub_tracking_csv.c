/* Sub-tracking files as CSV: whatever the bytes, rows that keep their promises or an error. */
#include "fuzz_folder.h"
#include "fuzz_marks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s/fuzz-%d.csv", fuzz_folder(), (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);

    fuzz_read_marks(path, sub_tracking_reader_open);
    fuzz_read_marks(path, sub_tracking_reader_salvage);
    unlink(path);
    return 0;
}
