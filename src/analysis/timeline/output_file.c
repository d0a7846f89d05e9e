#include "analysis/timeline/output_file.h"

#include "base/file_target.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const unsigned char gzip_head[GZIP_HEAD_BYTES] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};

/* Adds a part to the length and the check of `whole`, which are zero at first. */
static void gzip_part_count(struct gzip_part *whole, const struct gzip_part *part);

/* Makes the trailer of a file with all parts that were counted. */
static void gzip_end(const struct gzip_part *whole, unsigned char end[GZIP_END_BYTES]);

#define ENOUGH (256u << 10)

bool output_file_is_straight(const char *path)
{
    return strcmp(path, "-") == 0 || file_is_written_directly(path);
}

/* Duplicates the standard output, so that closing the file does not close it. */
static int open_standard_output(struct file_writing *writing, struct gput_error *error)
{
    *writing = (struct file_writing){.path = strdup("- (the standard output)")};
    writing->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (!writing->path)
        return error_memory(error);
    return writing->fd >= 0 ? GPUT_OK
                            : error_set_errno(error, errno, "Cannot write %s", writing->path);
}

int output_file_open(const char *path, struct output_file *file, struct gput_error *error)
{
    *file =
        (struct output_file){.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    int code = strcmp(path, "-") == 0 ? open_standard_output(&file->writing, error)
                                      : file_writing_begin(path, &file->writing, error);
    file->packs = text_ends_with(path, ".gz");
    if (code != GPUT_OK)
        output_file_discard(file);
    return code;
}

/* Writes a compressed part, after the header if it is the first. */
static int write_part(
    struct output_file *file, const struct gzip_part *part, struct gput_error *error)
{
    if (!file->has_head)
        TRY(file_writing_add(&file->writing, (const char *)gzip_head, GZIP_HEAD_BYTES, error));
    file->has_head = true;
    TRY(file_writing_add(&file->writing, part->bytes.data, part->bytes.length, error));
    gzip_part_count(&file->whole, part);
    return GPUT_OK;
}

/* Writes a text, compressed if the file is. */
static int write_text(struct output_file *file, const struct str *text, struct gput_error *error)
{
    struct gzip_part part = {0};
    if (!file->packs)
        return file_writing_add(&file->writing, text->data, text->length, error);
    int code = gzip_part_pack(text, &part, error);
    if (code == GPUT_OK)
        code = write_part(file, &part, error);
    gzip_part_finish(&part);
    return code;
}

/* Writes a piece; compresses it if the file is compressed and the piece is not. */
static int write_out(struct output_file *file, struct output_piece *piece, struct gput_error *error)
{
    int code = GPUT_OK;
    if (piece->is_packed)
        code = write_part(file, &piece->part, error);
    else if (piece->part.bytes.length > 0)
        code = write_text(file, &piece->part.bytes, error);
    str_clear(&piece->part.bytes);
    return code;
}

/* ---- the thread ---- */

/* Runs in the thread: writes each piece that is handed over, until there are no more. */
static void *write_pieces(void *user)
{
    struct output_file *file = user;
    pthread_mutex_lock(&file->lock);
    for (;;) {
        while (!file->is_full && !file->is_over)
            pthread_cond_wait(&file->moved, &file->lock);
        if (!file->is_full)
            break;
        pthread_mutex_unlock(&file->lock);
        int code = write_out(file, &file->full, &file->error);
        pthread_mutex_lock(&file->lock);
        file->code = code;
        file->is_full = false;
        pthread_cond_signal(&file->moved);
    }
    pthread_mutex_unlock(&file->lock);
    return NULL;
}

/* Returns the result of the writing thread, and copies its error. */
static int copy_result(const struct output_file *file, struct gput_error *error)
{
    if (file->code != GPUT_OK && error)
        *error = file->error;
    return file->code;
}

/* Hands a piece to the thread. The caller gets the buffer of the piece that was written before. */
static int hand_over(struct output_file *file, struct output_piece *piece, struct gput_error *error)
{
    /* Block signals in the new thread, except SIGPIPE: that one ends the program, as it would
     * without the thread. */
    sigset_t all_but_sigpipe, before;
    if (!file->has_thread) {
        sigfillset(&all_but_sigpipe);
        sigdelset(&all_but_sigpipe, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &all_but_sigpipe, &before);
        int failure = pthread_create(&file->thread, NULL, write_pieces, file);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        file->has_thread = failure == 0;
        TRY(failure ? error_set_errno(error, failure, "Cannot start a thread to write") : GPUT_OK);
    }

    pthread_mutex_lock(&file->lock);
    while (file->is_full)
        pthread_cond_wait(&file->moved, &file->lock);
    int code = copy_result(file, error);
    if (code == GPUT_OK) {
        struct str written = file->full.part.bytes;
        file->full = *piece;
        piece->part.bytes = written;
        file->is_full = true;
        pthread_cond_signal(&file->moved);
    }
    pthread_mutex_unlock(&file->lock);
    return code;
}

/* Ends the thread once it has written its last piece. */
static void end_thread(struct output_file *file)
{
    if (!file->has_thread)
        return;
    pthread_mutex_lock(&file->lock);
    file->is_over = true;
    pthread_cond_signal(&file->moved);
    pthread_mutex_unlock(&file->lock);
    pthread_join(file->thread, NULL);
    file->has_thread = false;
}

/* Hands the filled buffer to the writing thread, and gets an empty one for it. */
static int hand_over_buffer(struct output_file *file, struct gput_error *error)
{
    struct output_piece piece = {.part.bytes = file->buffer};
    int code = hand_over(file, &piece, error);
    file->buffer = piece.part.bytes;
    return code;
}

int output_file_flow(struct output_file *file, struct gput_error *error)
{
    if (file->buffer.failed)
        return error_memory(error);
    return file->buffer.length < ENOUGH ? GPUT_OK : hand_over_buffer(file, error);
}

int output_file_add(struct output_file *file, struct str *text, struct gput_error *error)
{
    if (file->buffer.length == 0) {
        struct str empty = file->buffer;
        file->buffer = *text;
        *text = empty;
    } else {
        str_append_bytes(&file->buffer, text->data, text->length);
    }
    str_clear(text);
    return output_file_flow(file, error);
}

int output_file_add_part(struct output_file *file, struct gzip_part *part, struct gput_error *error)
{
    if (file->buffer.failed)
        return error_memory(error);
    if (file->buffer.length > 0)
        TRY(hand_over_buffer(file, error));
    struct output_piece piece = {.part = *part, .is_packed = true};
    int code = hand_over(file, &piece, error);
    part->bytes = piece.part.bytes;
    return code;
}

/* ---- the end ---- */

/* Ends the thread, and writes the rest and the trailer of a gzip file. */
static int write_rest(struct output_file *file, struct gput_error *error)
{
    end_thread(file);
    TRY(copy_result(file, error));
    if (file->buffer.failed)
        return error_memory(error);
    if (file->buffer.length > 0 || (file->packs && !file->has_head))
        TRY(write_text(file, &file->buffer, error));
    if (file->packs) {
        unsigned char end[GZIP_END_BYTES];
        gzip_end(&file->whole, end);
        TRY(file_writing_add(&file->writing, (const char *)end, sizeof end, error));
    }
    return file_writing_end(&file->writing, error);
}

int output_file_commit(struct output_file *file, struct gput_error *error)
{
    int code = write_rest(file, error);
    output_file_discard(file);
    return code;
}

void output_file_discard(struct output_file *file)
{
    end_thread(file);
    file_writing_discard(&file->writing);
    str_finish(&file->buffer);
    gzip_part_finish(&file->full.part);
}

/* zlib's bits for the largest window, without header and trailer. */
#define WINDOW_BITS (-15)
#define MEMORY_LEVEL 8
/* Bytes of a flush, which ends a part on a whole byte; deflateBound() does not include them. */
#define FLUSH_BYTES 16

/* Header of gzip (RFC 1952): DEFLATE, no name, no time, fastest level, Unix. */
int gzip_part_pack(const struct str *text, struct gzip_part *part, struct gput_error *error)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
            Z_DEFAULT_STRATEGY) != Z_OK)
        return error_memory(error);
    size_t most = deflateBound(&stream, text->length) + FLUSH_BYTES;
    bool is_whole = false;
    str_clear(&part->bytes);
    if (str_reserve(&part->bytes, most)) {
        stream.next_in = (Bytef *)str_text(text);
        stream.avail_in = (uInt)text->length;
        stream.next_out = (Bytef *)part->bytes.data;
        stream.avail_out = (uInt)most;
        is_whole =
            deflate(&stream, Z_SYNC_FLUSH) == Z_OK && stream.avail_in == 0 && stream.avail_out > 0;
        part->bytes.length = most - stream.avail_out;
    }
    deflateEnd(&stream);
    part->length = text->length;
    part->check = (uint32_t)crc32(0, (const Bytef *)str_text(text), (uInt)text->length);
    return is_whole ? GPUT_OK : error_memory(error);
}

void gzip_part_finish(struct gzip_part *part)
{
    str_finish(&part->bytes);
}

static void gzip_part_count(struct gzip_part *whole, const struct gzip_part *part)
{
    whole->check = (uint32_t)crc32_combine(whole->check, part->check, (z_off_t)part->length);
    whole->length += part->length;
}

static void put_number(uint32_t number, unsigned char *bytes)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
}

static void gzip_end(const struct gzip_part *whole, unsigned char end[GZIP_END_BYTES])
{
    end[0] = 3; /* an empty last block */
    end[1] = 0;
    put_number(whole->check, end + 2);
    put_number((uint32_t)whole->length, end + 6);
}
