/*
 * stuck_process FOLDER [exec]: a process that waits in the kernel for storage that does not answer.
 *
 * Mounts a file system of its own on FOLDER, in a mount namespace of its own, whose one file takes
 * no writes: they never return. One thread unmaps that file while it holds the lock of the
 * process's memory map; another then waits for that lock. From then on whatever needs that lock
 * waits: smaps, smaps_rollup, maps, numa_maps, cmdline, environ. With `exec` the process calls
 * execve() instead, and waits in it: io waits, too.
 *
 * Prints one line when it is stuck, with `exec` right before: "PID SERVER". The process goes on to
 * use CPU time and memory. When SERVER is killed, nothing waits any more. After a minute both end
 * by themselves. Exit status 77: not possible here.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SECONDS 60
#define FILE_BYTES 4096

static void give_up(const char *what)
{
    fprintf(stderr, "stuck_process: %s: %s\n", what, strerror(errno));
    exit(77);
}

/* ---- the file system ---- */

static void answer(int fd, uint64_t unique, int error, const void *body, size_t size)
{
    char reply[sizeof(struct fuse_out_header) + FILE_BYTES];
    struct fuse_out_header header = {
        .len = (uint32_t)(sizeof header + size), .error = error, .unique = unique};
    memcpy(reply, &header, sizeof header);
    if (size)
        memcpy(reply + sizeof header, body, size);
    if (write(fd, reply, header.len) < 0 && errno != ENOENT)
        exit(1);
}

static struct fuse_attr attributes_of(uint64_t node)
{
    bool is_root = node == FUSE_ROOT_ID;
    return (struct fuse_attr){.ino = node,
        .size = is_root ? 0 : FILE_BYTES,
        .mode = is_root ? S_IFDIR | 0777 : S_IFREG | 0666,
        .nlink = 1,
        .blksize = FILE_BYTES};
}

static void handle(int fd, const struct fuse_in_header *request)
{
    static const char page[FILE_BYTES];
    struct fuse_init_out init = {
        .major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = FILE_BYTES, .max_background = 4};
    struct fuse_entry_out entry = {
        .nodeid = 2, .entry_valid = 60, .attr_valid = 60, .attr = attributes_of(2)};
    struct fuse_attr_out attributes = {.attr_valid = 60, .attr = attributes_of(request->nodeid)};
    struct fuse_open_out open = {.fh = 1};
    uint64_t unique = request->unique;
    switch (request->opcode) {
    case FUSE_INIT:
        answer(fd, unique, 0, &init, sizeof init);
        break;
    case FUSE_LOOKUP:
        answer(fd, unique, 0, &entry, sizeof entry);
        break;
    case FUSE_GETATTR:
        answer(fd, unique, 0, &attributes, sizeof attributes);
        break;
    case FUSE_OPEN:
        answer(fd, unique, 0, &open, sizeof open);
        break;
    case FUSE_READ:
        answer(fd, unique, 0, page, sizeof page);
        break;
    case FUSE_WRITE: /* never answered */
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
        break;
    default:
        answer(fd, unique, -ENOSYS, NULL, 0);
    }
}

static void serve(int fd)
{
    static _Alignas(8) char request[1 << 17];
    alarm(MAX_SECONDS);
    while (read(fd, request, sizeof request) > 0 || errno == EINTR)
        handle(fd, (struct fuse_in_header *)request);
    _exit(0);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        give_up(path);
    close(fd);
}

/* In a mount namespace of our own; who is not root needs a user namespace for that. */
static int mount_at(const char *folder)
{
    char options[128], map[64];
    uid_t user = geteuid();
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        give_up("/dev/fuse");
    if (unshare(CLONE_NEWNS | (user ? CLONE_NEWUSER : 0)) != 0)
        give_up("unshare");
    if (user) {
        snprintf(map, sizeof map, "0 %u 1", user);
        write_file("/proc/self/uid_map", map);
    }
    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    if (mount("stuck", folder, "fuse", MS_NOSUID | MS_NODEV, options) != 0)
        give_up("mount");
    return fd;
}

/* ---- the process ---- */

static char *mapped;

static void *unmap(void *nothing)
{
    munmap(mapped, FILE_BYTES);
    return nothing;
}

static void *map(void *nothing)
{
    usleep(200000);
    mmap(NULL, FILE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return nothing;
}

/* Until a reader of the command line waits: it writes a byte before and another one after. */
static void await_stuck(int from_reader)
{
    char byte;
    struct pollfd after = {.fd = from_reader, .events = POLLIN};
    do {
        if (read(from_reader, &byte, 1) != 1)
            exit(1);
    } while (poll(&after, 1, 100) == 1 && read(from_reader, &byte, 1) == 1);
}

/* Reads the command line of its parent again and again, until that waits. */
static pid_t start_reader(int *from_reader)
{
    int ends[2];
    char path[64], byte = 0;
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)getpid());
    if (pipe2(ends, O_CLOEXEC) != 0)
        give_up("pipe");
    pid_t reader = fork();
    *from_reader = ends[0];
    while (reader == 0) {
        if (write(ends[1], &byte, 1) != 1)
            _exit(1);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        (void)!read(fd, &byte, 1);
        close(fd);
        if (write(ends[1], &byte, 1) != 1)
            _exit(1);
        usleep(10000);
    }
    close(ends[1]);
    return reader;
}

static void map_file(const char *folder)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/file", folder);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    mapped = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd < 0 || mapped == MAP_FAILED)
        give_up(path);
    memset(mapped, 7, FILE_BYTES);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int from_reader;
    char line[64];
    if (argc < 2)
        return 2;
    int fd = mount_at(argv[1]);
    pid_t self = getpid(), server = fork();
    if (server == 0)
        serve(fd);
    close(fd);
    alarm(MAX_SECONDS);
    /* Without the file, which would be flushed at its end. */
    pid_t reader = argc > 2 ? 0 : start_reader(&from_reader);
    map_file(argv[1]);
    int length = snprintf(line, sizeof line, "%d %d\n", (int)self, (int)server);
    if (argc > 2) {
        (void)!write(STDOUT_FILENO, line, (size_t)length);
        execl("/proc/self/exe", argv[0], NULL);
        return 1;
    }
    pthread_create(&thread, NULL, map, NULL); /* first: this needs memory */
    pthread_create(&thread, NULL, unmap, NULL);
    await_stuck(from_reader);
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    /* From now on no memory can be had, which printf() may need. */
    (void)!write(STDOUT_FILENO, line, (size_t)length);
    for (;;)
        usleep(20000);
}
