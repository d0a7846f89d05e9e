/*
 * marker FILE [CALLS]: marks calls of a code block in FILE, that many or until it is killed, and
 * writes a byte to standard output after each call that the file has to hold. Exits with 1 and a
 * message where marks were lost.
 *
 * marker FILE -: marks as many calls as each line of standard input says, and answers with how many
 * of them the file has to hold.
 */
#include <gputracker/blocks.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether both marks of the call were written. */
static bool mark_call(struct gput_blocks *blocks)
{
    int code = gput_blocks_start(blocks, "block");
    int end_code = gput_blocks_stop(blocks);
    return code == GPUT_OK && end_code == GPUT_OK;
}

static int mark_until(struct gput_blocks *blocks, long calls)
{
    for (long i = 0; i != calls; i++) {
        if (mark_call(blocks) && write(STDOUT_FILENO, ".", 1) != 1)
            return 3;
    }
    return 0;
}

static int mark_as_asked(struct gput_blocks *blocks)
{
    char line[32];
    while (fgets(line, sizeof line, stdin)) {
        long kept = 0;
        for (long left = atol(line); left > 0; left--)
            kept += mark_call(blocks);
        printf("%ld\n", kept);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct gput_blocks *blocks;
    struct gput_error error;
    if (argc < 2)
        return 2;
    if (gput_blocks_open(argv[1], NULL, &blocks, &error) != GPUT_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    bool asked = argc > 2 && strcmp(argv[2], "-") == 0;
    int failed = asked ? mark_as_asked(blocks) : mark_until(blocks, argc > 2 ? atol(argv[2]) : -1);
    if (failed)
        return failed;
    struct gput_blocks_status status = gput_blocks_status_default();
    gput_blocks_read_status(blocks, &status);
    if (status.marks_lost > 0)
        fprintf(stderr, "%s\n", status.lost.message);
    int code = gput_blocks_close(blocks, &error);
    if (code != GPUT_OK)
        fprintf(stderr, "%s\n", error.message);
    return code != GPUT_OK || status.marks_lost > 0;
}
