#include "analysis/blocks/process_peak.h"

#include "base/file.h"
#include "base/number.h"
#include "base/order.h"
#include "files/marks/sub_tracking_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif

#define STATUS_SIZE 4096

/* The number is the version of the layout: copies of another version do not use this page. */
#define PAGE_NAME "gpu-tracker-peak-1"

struct process_peak_page {
    pthread_mutex_t lock;
    /* Maximum of all readings, which resets have removed from the kernel's figure. */
    _Atomic int64_t highest_bytes;
    int64_t rss_bytes; /* RSS at the last reading */
    struct reader {
        int64_t peak_bytes; /* peak since its last reading */
        bool is_taken;
    } readers[PROCESS_PEAK_READERS];
};

/* ---- The kernel's figures ---- */

/* Finds a figure in KiB of a status file; `key` begins with the line end before it. */
static bool find_bytes(const char *text, const char *end, const char *key, int64_t *bytes)
{
    uint64_t kib;
    const char *value = strstr(text, key);
    if (!value)
        return false;
    value += strlen(key);
    value += strspn(value, " \t");
    if (!number_parse_uint64(value, end, &kib))
        return false;
    *bytes = (int64_t)(kib * 1024);
    return true;
}

/* Reads the kernel's peak of RSS, and RSS now. */
static bool read_status(struct process_peak *peak, int64_t *peak_bytes, int64_t *rss_bytes)
{
    char text[STATUS_SIZE];
    int fd = kept_file_fd(&peak->status, "/proc/self/status", O_RDONLY);
    long length = fd >= 0 ? file_reread(fd, text, sizeof text) : -1;
    return length > 0 && find_bytes(text, text + length, "\nVmHWM:", peak_bytes) &&
           find_bytes(text, text + length, "\nVmRSS:", rss_bytes);
}

bool process_peak_high_water(int64_t *bytes)
{
    struct process_peak peak = {.status.fd = -1};
    int64_t rss_bytes;
    bool is_read = read_status(&peak, bytes, &rss_bytes);
    kept_file_close(&peak.status);
    return is_read;
}

/* Resets the kernel's peak to the current RSS. */
static bool reset(struct process_peak *peak)
{
    int fd = kept_file_fd(&peak->clear, "/proc/self/clear_refs", O_WRONLY);
    return fd >= 0 && write(fd, "5", 1) == 1;
}

/* ---- The page ---- */

/* Returns the page that another copy of this code in the process has made; NULL: there is none. */
static struct process_peak_page *find_page(void)
{
    struct process_peak_page *page = NULL;
    char *line = NULL;
    size_t size = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !page && getline(&line, &size, maps) > 0) {
        uintptr_t start;
        if (strstr(line, " /memfd:" PAGE_NAME " ") && sscanf(line, "%" SCNxPTR "-", &start) == 1)
            page = (struct process_peak_page *)start;
    }
    free(line);
    if (maps)
        fclose(maps);
    return page;
}

/* Makes the page. Before Linux 3.17 it has no name, and other copies do not find it. */
static struct process_peak_page *make_page(void)
{
    size_t size = sizeof(struct process_peak_page);
    int fd = (int)syscall(SYS_memfd_create, PAGE_NAME, MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
        close(fd);
        fd = -1;
    }
    struct process_peak_page *page =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    if (fd >= 0)
        close(fd);
    if (page == MAP_FAILED)
        return NULL;
    if (madvise(page, size, MADV_DONTFORK) != 0) {
        munmap(page, size);
        return NULL;
    }
    pthread_mutex_init(&page->lock, NULL);
    return page;
}

/* Finds the page or makes it, under a lock: copies that open at the same time must get the same
 * page. `fd` is /proc/self/clear_refs, a file that each process has of its own. A child that
 * is forked meanwhile may inherit the descriptor, but cannot prolong the lock. */
static struct process_peak_page *find_or_make_page(int fd)
{
    flock(fd, LOCK_EX);
    struct process_peak_page *page = find_page();
    if (!page)
        page = make_page();
    flock(fd, LOCK_UN);
    return page;
}

const struct process_peak_page *process_peak_page(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    const struct process_peak_page *page = find_or_make_page(fd);
    close(fd);
    return page;
}

int64_t process_peak_taken(const struct process_peak_page *page)
{
    return page ? atomic_load_explicit(&page->highest_bytes, memory_order_relaxed) : 0;
}

/* ---- Readers ---- */

/* Takes a reading for all readers, with the lock held. It only counts if the peak could be
 * reset. */
static bool read_for_all(struct process_peak *peak, int64_t *rss_bytes)
{
    struct process_peak_page *page = peak->page;
    int64_t peak_bytes;
    if (!read_status(peak, &peak_bytes, rss_bytes) || !reset(peak))
        return false;
    if (peak_bytes < page->rss_bytes) /* RSS fell before the reset */
        peak_bytes = page->rss_bytes;
    if (peak_bytes > process_peak_taken(page))
        atomic_store(&page->highest_bytes, peak_bytes);
    for (unsigned i = 0; i < PROCESS_PEAK_READERS; i++)
        if (page->readers[i].peak_bytes < peak_bytes)
            page->readers[i].peak_bytes = peak_bytes;
    page->rss_bytes = *rss_bytes;
    return true;
}

/* Finds a free slot for a reader in the page. */
static int claim_reader(struct process_peak *peak, struct gput_error *error)
{
    int64_t rss_bytes;
    struct reader *readers = peak->page->readers;
    if (!read_for_all(peak, &rss_bytes))
        return error_set_errno(
            error, errno, "Cannot reset the peak of RSS by /proc/self/clear_refs");
    while (peak->reader < PROCESS_PEAK_READERS && readers[peak->reader].is_taken)
        peak->reader++;
    if (peak->reader == PROCESS_PEAK_READERS)
        return error_memory(error);
    readers[peak->reader] = (struct reader){.is_taken = true};
    return GPUT_OK;
}

static void close_files(struct process_peak *peak)
{
    kept_file_close(&peak->status);
    kept_file_close(&peak->clear);
}

int process_peak_open(struct process_peak *peak, struct gput_error *error)
{
    *peak = (struct process_peak){.process = getpid(), .status.fd = -1, .clear.fd = -1};
    peak->page = find_or_make_page(kept_file_fd(&peak->clear, "/proc/self/clear_refs", O_WRONLY));
    if (!peak->page) {
        close_files(peak);
        return error_memory(error);
    }
    pthread_mutex_lock(&peak->page->lock);
    int code = claim_reader(peak, error);
    pthread_mutex_unlock(&peak->page->lock);
    if (code != GPUT_OK)
        close_files(peak);
    return code;
}

bool process_peak_read(struct process_peak *peak, struct process_peak_reading *reading)
{
    struct reader *reader = &peak->page->readers[peak->reader];
    pthread_mutex_lock(&peak->page->lock);
    bool is_read = read_for_all(peak, &reading->rss_bytes);
    if (is_read) {
        reading->peak_bytes = reader->peak_bytes;
        reading->highest_bytes = process_peak_taken(peak->page);
        reader->peak_bytes = 0;
    }
    pthread_mutex_unlock(&peak->page->lock);
    return is_read;
}

void process_peak_close(struct process_peak *peak)
{
    if (peak->process == getpid()) {
        pthread_mutex_lock(&peak->page->lock);
        peak->page->readers[peak->reader].is_taken = false;
        pthread_mutex_unlock(&peak->page->lock);
    }
    close_files(peak);
}

/* ---- Peaks of calls ---- */

void peak_segments_add(struct peak_segments *peaks, int64_t end_ns, int64_t bytes)
{
    while (peaks->count > 0 && peaks->segments[peaks->count - 1].bytes <= bytes)
        peaks->count--;
    if (peaks->count == PEAK_SEGMENTS_MAX) {
        /* Merge each two neighbours. Their peak is that of the first, which is higher; for a call
         * that began between them it is no longer known. */
        size_t kept = 0;
        for (size_t i = 0; i < peaks->count; i += 2, kept++) {
            peaks->segments[kept] = peaks->segments[i];
            if (i + 1 < peaks->count)
                peaks->segments[kept].end_ns = peaks->segments[i + 1].end_ns;
        }
        peaks->count = kept;
    }
    peaks->segments[peaks->count++] = (struct peak_segment){end_ns, end_ns, bytes};
}

int64_t peak_segments_since(const struct peak_segments *peaks, int64_t time_ns)
{
    size_t at;
    PARTITION_POINT(at, peaks->count, peaks->segments[at].end_ns <= time_ns);
    bool is_known = at < peaks->count && time_ns < peaks->segments[at].first_end_ns;
    return is_known ? peaks->segments[at].bytes : SUB_TRACKING_UNKNOWN;
}
