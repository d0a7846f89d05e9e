/*
 * A disk that takes its time: slow_disk COMMAND [ARG...]. The folder "slow" is a file system with
 * one file, each read of which takes SECONDS_OF_READ; it is there for the command alone, which may
 * be of any user. Needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_OF_READ 0.02
#define REFUSED 77 /* nothing can be mounted here */
#define FILE_NODE 2
#define FILE_BYTES (1 << 20)
#define MAX_BYTES (1 << 17)

static void answer(
    int fd, const struct fuse_in_header *request, int error, const void *bytes, size_t length)
{
    struct fuse_out_header head = {(uint32_t)(sizeof head + length), -error, request->unique};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)(uintptr_t)bytes, length}};
    /* A request whose process has ended has no answer. */
    if (writev(fd, parts, length > 0 ? 2 : 1) < 0 && errno != ENOENT)
        exit(1);
}

static struct fuse_attr attributes_of(uint64_t node)
{
    return (struct fuse_attr){.ino = node,
        .size = node == FILE_NODE ? FILE_BYTES : 0,
        .mode = node == FILE_NODE ? S_IFREG | 0444 : S_IFDIR | 0555,
        .nlink = 1,
        .blksize = 4096};
}

static void serve(int fd, const struct fuse_in_header *request, const void *body)
{
    static const char zeroes[MAX_BYTES];
    struct timespec pause = {0, (long)(SECONDS_OF_READ * 1e9)};
    struct fuse_init_out init = {
        .major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = MAX_BYTES};
    struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes_of(FILE_NODE)};
    struct fuse_attr_out attributes = {.attr = attributes_of(request->nodeid)};
    struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
    switch (request->opcode) {
    case FUSE_INIT:
        answer(fd, request, 0, &init, sizeof init);
        return;
    case FUSE_LOOKUP:
        answer(fd, request, strcmp(body, "file") == 0 ? 0 : ENOENT, &entry, sizeof entry);
        return;
    case FUSE_GETATTR:
        answer(fd, request, 0, &attributes, sizeof attributes);
        return;
    case FUSE_OPEN:
        answer(fd, request, 0, &opened, sizeof opened);
        return;
    case FUSE_READ: {
        const struct fuse_read_in *read = body;
        nanosleep(&pause, NULL);
        answer(fd, request, 0, zeroes, read->size < MAX_BYTES ? read->size : MAX_BYTES);
        return;
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        return;
    case FUSE_RELEASE:
    case FUSE_FLUSH:
        answer(fd, request, 0, NULL, 0);
        return;
    default:
        answer(fd, request, ENOSYS, NULL, 0);
    }
}

static void serve_all(int fd)
{
    static char bytes[MAX_BYTES + 4096];
    for (;;) {
        ssize_t length = read(fd, bytes, sizeof bytes);
        if (length < (ssize_t)sizeof(struct fuse_in_header) && errno != EINTR && errno != ENOENT)
            _exit(0);
        if (length > 0)
            serve(fd, (const void *)bytes, bytes + sizeof(struct fuse_in_header));
    }
}

int main(int argc, char **argv)
{
    char options[100];
    int status = 0, fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
    mkdir("slow", 0777);
    if (argc < 2 || fd < 0 || unshare(CLONE_NEWNS) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("slow", "slow", "fuse", MS_NOSUID | MS_NODEV, options) != 0) {
        fprintf(stderr, "no file system of a program: %s\n", strerror(errno));
        return REFUSED;
    }
    pid_t server = fork();
    if (server == 0)
        serve_all(fd);
    pid_t command = fork();
    if (command == 0) {
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    waitpid(command, &status, 0);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
