/*
 * Block logs: whatever the bytes, rows that keep their promises or an error. Half of the inputs are
 * put after a sound header, so that their chunks are read.
 */
#include "files/marks/block_log.h"
#include "fuzz_folder.h"
#include "fuzz_marks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES 4096

/* A log of one chunk that begins with the input's second byte as its kind. */
static void write_chunk(int fd, const uint8_t *data, size_t size)
{
    struct block_log_header header = {
        .magic = BLOCK_LOG_MAGIC,
        .byte_order = BLOCK_LOG_BYTE_ORDER,
        .version = BLOCK_LOG_VERSION_GPU,
        .header_bytes = sizeof header,
        .chunk_bytes = CHUNK_BYTES,
        .columns = SUB_TRACKING_COLUMNS_COUNTED,
    };
    struct block_log_chunk chunk = {
        .magic = BLOCK_LOG_CHUNK_MAGIC,
        .kind = data[1] % 6,
    };
    /* Names for the marks to have. */
    struct block_log_chunk names = {
        .magic = BLOCK_LOG_CHUNK_MAGIC,
        .kind = BLOCK_LOG_NAMES,
    };
    char name_chunk[CHUNK_BYTES] = {0};
    memcpy(name_chunk, &names, sizeof names);
    memcpy(name_chunk + sizeof names, "\2\0\0\0a\0\0\0\3\0\0\0bc", 14);
    if (write(fd, &header, sizeof header) < 0 || write(fd, name_chunk, CHUNK_BYTES) < 0 ||
        write(fd, &chunk, sizeof chunk) < 0 || write(fd, data + 2, size - 2) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "%s/fuzz-%d.gputblocks", fuzz_folder(), (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        abort();
    if (size > 2 && data[0] % 2 == 0)
        write_chunk(fd, data, size);
    else if (write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);

    fuzz_read_marks(path, sub_tracking_reader_open);
    unlink(path);
    return 0;
}
