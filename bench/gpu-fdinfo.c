/*
 * What it costs to find out what 100 processes use of graphics cards, next to two ways of doing it
 * plainly: reading the fdinfo of every descriptor, and of those alone that link to a card. The
 * processes are a tree of files that the program makes: 20 descriptors each, two of them cards.
 */
#include "base/clock.h"
#include "machine/gpu/drm_clients.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES 100
#define DESCRIPTORS 20
#define CARDS 2
#define ROUNDS 200

static char root[64];

static const char client[] =
    "pos:\t0\nflags:\t02100002\nmnt_id:\t24\nino:\t588\ndrm-driver:\ti915\ndrm-pdev:\t0000:00:02."
    "0\n"
    "drm-client-id:\t%d\ndrm-total-system0:\t20992 KiB\ndrm-shared-system0:\t0\n"
    "drm-resident-system0:\t20480 KiB\ndrm-engine-render:\t25662044495 ns\ndrm-engine-copy:\t0 ns\n"
    "drm-engine-video:\t0 ns\ndrm-engine-video-enhance:\t0 ns\ndrm-engine-capacity-video:\t2\n";

static void make_processes(void)
{
    char path[128], text[1024];
    snprintf(root, sizeof root, "/tmp/gpu-fdinfo-XXXXXX");
    if (!mkdtemp(root))
        exit(1);
    for (int pid = 1; pid <= PROCESSES; pid++) {
        static const char *const folders[] = {"", "/fd", "/fdinfo"};
        for (int i = 0; i < 3; i++) {
            snprintf(path, sizeof path, "%s/%d%s", root, pid, folders[i]);
            mkdir(path, 0777);
        }
        for (int fd = 0; fd < DESCRIPTORS; fd++) {
            bool card = fd >= DESCRIPTORS - CARDS;
            snprintf(path, sizeof path, "%s/%d/fd/%d", root, pid, fd);
            if (symlink(card ? "/dev/dri/renderD128" : "/dev/null", path) != 0)
                exit(1);
            snprintf(text, sizeof text, card ? client : "pos:\t0\nflags:\t02\n", pid * CARDS + fd);
            snprintf(path, sizeof path, "%s/%d/fdinfo/%d", root, pid, fd);
            FILE *file = fopen(path, "w");
            if (!file)
                exit(1);
            fputs(text, file);
            fclose(file);
        }
    }
}

/* Reads the descriptors of all processes; with `look`, only those whose link names a card. */
static uint64_t read_plainly(bool check)
{
    uint64_t sum = 0;
    for (int pid = 1; pid <= PROCESSES; pid++) {
        char path[384], target[64], text[4096];
        snprintf(path, sizeof path, "%s/%d/fd", root, pid);
        DIR *directory = opendir(path);
        for (struct dirent *entry; directory && (entry = readdir(directory));) {
            if (entry->d_name[0] == '.')
                continue;
            ssize_t length = check ? readlinkat(dirfd(directory), entry->d_name, target, 63) : 0;
            if (check && (length < 9 || memcmp(target, "/dev/dri/", 9) != 0))
                continue;
            snprintf(path, sizeof path, "%s/%d/fdinfo/%s", root, pid, entry->d_name);
            int fd = open(path, O_RDONLY);
            ssize_t got = read(fd, text, sizeof text);
            struct fdinfo info;
            uint64_t shared;
            if (got > 0 && fdinfo_parse(text, (size_t)got, &info) == GPUT_OK)
                sum += fdinfo_ram_bytes(&info, true, &shared);
            close(fd);
        }
        closedir(directory);
    }
    return sum;
}

static double plain_ns(bool check, uint64_t *sum)
{
    int64_t start = clock_thread_cpu_ns();
    for (int i = 0; i < ROUNDS; i++)
        *sum = read_plainly(check);
    return (double)(clock_thread_cpu_ns() - start) / ROUNDS;
}

static double reader_ns(uint64_t *sum)
{
    const struct drm_target target = {
        .pci_address = "0000:00:02.0", .driver = "i915", .render_number = 128, .integrated = true};
    struct drm_client_reader reader = {0};
    struct gpu_process_list list = {0};
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = i + 1;
    struct gpu_tracked tracked = {pids, PROCESSES};
    int64_t start = clock_thread_cpu_ns();
    for (int i = 0; i < ROUNDS; i++) {
        gpu_process_list_clear(&list);
        drm_clients_read(&reader, root, &tracked, &target, 1, clock_monotonic_ns(), &list);
    }
    double ns = (double)(clock_thread_cpu_ns() - start) / ROUNDS;
    *sum = 0;
    for (size_t i = 0; i < list.count; i++)
        *sum += (uint64_t)list.entries[i].ram_bytes;
    drm_client_reader_finish(&reader);
    gpu_process_list_finish(&list);
    return ns;
}

static void print_row(const char *what, double ns, double floor_ns)
{
    printf("%-58s %10.1f us %8.2f x\n", what, ns / 1e3, ns / floor_ns);
}

int main(void)
{
    char command[96];
    uint64_t all, looked, read;
    make_processes();
    double all_ns = plain_ns(false, &all);
    double polled_ns = plain_ns(true, &looked);
    double read_ns = reader_ns(&read);
    printf("%d processes of %d descriptors, %d of them cards; CPU time a scan\n", PROCESSES,
        DESCRIPTORS, CARDS);
    print_row("reading only the fdinfo of cards", polled_ns, polled_ns);
    print_row("reading the fdinfo of every descriptor", all_ns, polled_ns);
    print_row("ours: cards alone, others remembered for 3 s", read_ns, polled_ns);
    snprintf(command, sizeof command, "rm -rf %s", root);
    if (system(command) != 0 || all != looked || looked != read) {
        fprintf(stderr, "The ways do not agree: %llu, %llu, %llu\n", (unsigned long long)all,
            (unsigned long long)looked, (unsigned long long)read);
        return 1;
    }
    return 0;
}
