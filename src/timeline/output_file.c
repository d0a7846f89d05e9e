#include "timeline/output_file.h"

#include "base/file_target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define ENOUGH (256u << 10)

bool output_file_is_straight(const char *path)
{
    return strcmp(path, "-") == 0 || file_is_written_directly(path);
}

/* A descriptor of its own, so that closing it does not close the standard output. */
static int open_standard_output(struct file_writing *writing, struct gput_error *error)
{
    *writing = (struct file_writing){.path = strdup("- (the standard output)")};
    writing->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (!writing->path)
        return error_memory(error);
    return writing->fd >= 0 ? GPUT_OK
                            : error_set_errno(error, errno, "Cannot write %s", writing->path);
}

static int cannot_write(const struct output_file *file, struct gput_error *error)
{
    return error_set_errno(error, errno ? errno : EIO, "Cannot write %s", file->writing.path);
}

/* Packing takes longer than all else already at the quickest level. */
static int start_packing(struct output_file *file, struct gput_error *error)
{
    int fd = fcntl(file->writing.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return cannot_write(file, error);
    file->packed = gzdopen(fd, "wb1");
    if (file->packed)
        return GPUT_OK;
    close(fd);
    return error_memory(error);
}

static bool is_packed(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

int output_file_open(const char *path, struct output_file *file, struct gput_error *error)
{
    *file =
        (struct output_file){.lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER};
    int code = strcmp(path, "-") == 0 ? open_standard_output(&file->writing, error)
                                      : file_writing_begin(path, &file->writing, error);
    if (code == GPUT_OK && is_packed(path))
        code = start_packing(file, error);
    if (code != GPUT_OK)
        output_file_discard(file);
    return code;
}

static int write_out(struct output_file *file, struct str *text, struct gput_error *error)
{
    errno = 0;
    size_t length = text->length;
    if (file->packed && gzfwrite(text->data, 1, length, file->packed) != length)
        return cannot_write(file, error);
    if (!file->packed && length > 0)
        TRY(file_writing_add(&file->writing, text->data, length, error));
    str_clear(text);
    return GPUT_OK;
}

/* ---- the thread ---- */

static void *write_on(void *user)
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

/* Signals stay with the program's own threads, but for the one that a closed pipe sends to who
 * writes to it: that ends the program as ever. */
static int start_thread(struct output_file *file, struct gput_error *error)
{
    sigset_t all_but_sigpipe, before;
    if (file->has_thread)
        return GPUT_OK;
    sigfillset(&all_but_sigpipe);
    sigdelset(&all_but_sigpipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &all_but_sigpipe, &before);
    int failure = pthread_create(&file->thread, NULL, write_on, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    file->has_thread = failure == 0;
    return failure ? error_set_errno(error, failure, "Cannot start a thread to write") : GPUT_OK;
}

static int how_it_went(const struct output_file *file, struct gput_error *error)
{
    if (file->code != GPUT_OK && error)
        *error = file->error;
    return file->code;
}

/* Gives the thread the buffer, for the one that it has written. */
static int hand_over(struct output_file *file, struct gput_error *error)
{
    pthread_mutex_lock(&file->lock);
    while (file->is_full)
        pthread_cond_wait(&file->moved, &file->lock);
    int code = how_it_went(file, error);
    if (code == GPUT_OK) {
        struct str written = file->full;
        file->full = file->buffer;
        file->buffer = written;
        file->is_full = true;
        pthread_cond_signal(&file->moved);
    }
    pthread_mutex_unlock(&file->lock);
    return code;
}

/* Once it has written what it was given. */
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

int output_file_flow(struct output_file *file, struct gput_error *error)
{
    if (file->buffer.failed)
        return error_memory(error);
    if (file->buffer.length < ENOUGH)
        return GPUT_OK;
    TRY(start_thread(file, error));
    return hand_over(file, error);
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

/* ---- the end ---- */

static int write_rest(struct output_file *file, struct gput_error *error)
{
    end_thread(file);
    TRY(how_it_went(file, error));
    if (file->buffer.failed)
        return error_memory(error);
    return write_out(file, &file->buffer, error);
}

/* Writes what zlib holds. False when that fails. */
static bool end_packing(struct output_file *file)
{
    gzFile packed = file->packed;
    file->packed = NULL;
    errno = 0;
    return !packed || gzclose(packed) == Z_OK;
}

int output_file_commit(struct output_file *file, struct gput_error *error)
{
    int code = write_rest(file, error);
    if (code == GPUT_OK && !end_packing(file))
        code = cannot_write(file, error);
    if (code == GPUT_OK)
        code = file_writing_end(&file->writing, error);
    output_file_discard(file);
    return code;
}

void output_file_discard(struct output_file *file)
{
    end_thread(file);
    end_packing(file);
    file_writing_discard(&file->writing);
    str_finish(&file->buffer);
    str_finish(&file->full);
}
