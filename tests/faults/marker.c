/*
 * marker FILE [MARKS]: marks calls of a code block in FILE, that many or until it is killed, and
 * writes a byte to standard output after each call that the file has to hold. Exits with 1 and a
 * message where marks were lost.
 */
#include <gputracker/blocks.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct gput_blocks *blocks;
    struct gput_error error;
    long calls = argc > 2 ? atol(argv[2]) : -1;
    if (argc < 2)
        return 2;
    if (gput_blocks_open(argv[1], NULL, &blocks, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    for (long i = 0; i != calls; i++) {
        int code = gput_blocks_begin(blocks, "block");
        int end_code = gput_blocks_end(blocks);
        if (code == GPUT_OK && end_code == GPUT_OK && write(STDOUT_FILENO, ".", 1) != 1)
            return 3;
    }
    struct gput_blocks_status status = gput_blocks_status_default();
    gput_blocks_read_status(blocks, &status);
    if (status.marks_lost > 0)
        fprintf(stderr, "%s\n", status.lost.message);
    int code = gput_blocks_close(blocks, &error);
    if (code != GPUT_OK)
        fprintf(stderr, "%s\n", error.message);
    return code != GPUT_OK || status.marks_lost > 0;
}
