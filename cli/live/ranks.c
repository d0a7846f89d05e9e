#include "ranks.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/table.h"
#include "base/thread.h"

#include <gputracker/jobs.h>
#include <gputracker/table.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A page that has not answered by then is silent. */
#define PAGE_MS 2000
#define PAGE_BYTES ((size_t)4 << 20)
/* Between two readings of a page; of a folder also this many times the reading itself. */
#define PAUSE_MS 1000
#define FOLDER_PAUSE_MS 2000
#define FOLDER_SHARE 20
/* Share of its time; the same bound as that of `gpu-tracker job`. */
#define HELD_SHARE 0.20
/* Means of shares are of about so many seconds. */
#define AVERAGED_SECONDS 5

struct ranks {
    pthread_mutex_t lock;
    size_t owners; /* the view, and each thread; the last one frees it */
    int stop_fd;   /* can be read when it is over */
    bool has_changed;
    char message[200];
    struct rank_row *rows; /* owned */
    size_t count;
    char *source; /* owned: a folder, or pages with a NUL after each */
};

/* A thread that reads one page. */
struct page {
    struct ranks *ranks;
    size_t index; /* of its row */
    char host[256], port[16];
    struct addrinfo *addresses; /* owned; NULL: to be looked up */
};

/* ---- figures ---- */

/* A row of which nothing is known. */
static struct rank_row unknown_row(void)
{
    struct activity none = {NAN, NAN, NAN};
    return (struct rank_row){.seconds = NAN,
        .cpu_seconds = NAN,
        .cores = NAN,
        .allowed_cores = NAN,
        .machine_cores = NAN,
        .ram_bytes = NAN,
        .capacity_bytes = NAN,
        .gpu_percent = NAN,
        .waited = none,
        .wall_seconds = NAN,
        .shares = none};
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

/* Adds a cause of the account of wall time to what a row has. */
static void add_cause(struct rank_row *row, const char *cause, double seconds)
{
    const struct {
        const char *name;
        double *sum;
    } parts[] = {{"computing", &row->waited.computing}, {"cpu_wait", &row->waited.cpu_wait},
        {"quota", &row->waited.cpu_wait}, {"storage", &row->waited.storage},
        {"paging", &row->waited.storage}};
    if (isnan(seconds))
        return;
    row->wall_seconds = or_zero(row->wall_seconds) + seconds;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(parts[i].name, cause) == 0)
            *parts[i].sum = or_zero(*parts[i].sum) + seconds;
}

/* Copies the value of a label of a line: NAME{…label="value"…}. */
static void take_label(const char *line, const char *label, char *value, size_t size)
{
    char wanted[32];
    size_t length = 0;
    snprintf(wanted, sizeof wanted, "%s=\"", label);
    const char *end = line + strcspn(line, "\n"), *at = strstr(line, wanted);
    if (!at || at >= end)
        return;
    for (at += strlen(wanted); at < end && *at != '"' && length + 1 < size; at++)
        value[length++] = *at;
    value[length] = '\0';
}

bool rank_parse_page(const char *text, struct rank_row *row)
{
    double machine_ram = NAN, machine_cpu = NAN, allowed_bytes = NAN;
    const struct {
        const char *name;
        double *value;
    } figures[] = {{"elapsed_seconds_total", &row->seconds},
        {"combined_cpu_seconds_total", &row->cpu_seconds},
        {"combined_memory_bytes", &row->ram_bytes},
        {"system_memory_capacity_bytes", &row->capacity_bytes},
        {"allowed_memory_bytes", &allowed_bytes}, {"system_cores", &row->machine_cores},
        {"allowed_cores", &row->allowed_cores}, {"system_memory_used_bytes", &machine_ram},
        {"system_cpu_seconds_total", &machine_cpu}};
    static const char prefix[] = "gputracker_";
    bool any = false;
    char cause[32], name[96];
    memcpy(name, row->name, sizeof name);
    *row = unknown_row();
    memcpy(row->name, name, sizeof name);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, prefix, sizeof prefix - 1) != 0)
            continue;
        any = true;
        const char *figure = line + sizeof prefix - 1, *end = line + length;
        size_t name_length = strcspn(figure, "{ \n");
        while (end > line && end[-1] != ' ')
            end--;
        double value = strtod(end, NULL);
        for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++)
            if (strlen(figures[i].name) == name_length &&
                strncmp(figures[i].name, figure, name_length) == 0)
                *figures[i].value = value;
        if (strncmp(figure, "session_info{", 13) == 0) {
            take_label(line, "host", row->machine, sizeof row->machine);
            take_label(line, "pid", row->pid, sizeof row->pid);
        }
        if (strncmp(figure, "gpu_utilization_ratio", 21) == 0)
            row->gpu_percent = or_zero(row->gpu_percent) + 100 * value;
        if (strncmp(figure, "time_went_seconds{", 18) == 0) {
            cause[0] = '\0';
            take_label(line, "cause", cause, sizeof cause);
            add_cause(row, cause, value);
        }
    }
    /* A service that measures the machine alone has these figures. */
    if (isnan(row->cpu_seconds)) {
        row->cpu_seconds = machine_cpu;
        row->ram_bytes = machine_ram;
    }
    /* Limits are on the page only where they leave less than all. */
    if (isnan(row->allowed_cores))
        row->allowed_cores = row->machine_cores;
    if (!isnan(allowed_bytes))
        row->capacity_bytes = allowed_bytes;
    return any;
}

static double mean_of(double before, double now, double share)
{
    return isnan(before) ? now : before + (now - before) * share;
}

void rank_compare(const struct rank_row *before, struct rank_row *row)
{
    bool is_same = strcmp(row->pid, before->pid) == 0;
    if (is_same && row->seconds == before->seconds) { /* there was no sample since then */
        row->cores = before->cores;
        row->shares = before->shares;
        return;
    }
    struct rank_row start = unknown_row();
    start.seconds = start.cpu_seconds = start.wall_seconds = 0;
    start.waited = (struct activity){0, 0, 0};
    bool goes_on =
        is_same && before->seconds < row->seconds && before->cpu_seconds <= row->cpu_seconds;
    const struct rank_row *from = goes_on ? before : &start;
    double seconds = row->seconds - from->seconds, wall = row->wall_seconds - from->wall_seconds;
    double share = 1 - exp(-seconds / AVERAGED_SECONDS);
    row->cores = seconds > 0 ? (row->cpu_seconds - from->cpu_seconds) / seconds : NAN;
    if (!(wall > 0)) {
        row->shares = from->shares;
        return;
    }
    row->shares = (struct activity){
        mean_of(from->shares.computing,
            (or_zero(row->waited.computing) - or_zero(from->waited.computing)) / wall, share),
        mean_of(from->shares.cpu_wait,
            (or_zero(row->waited.cpu_wait) - or_zero(from->waited.cpu_wait)) / wall, share),
        mean_of(from->shares.storage,
            (or_zero(row->waited.storage) - or_zero(from->waited.storage)) / wall, share)};
}

/* Ranks by their number; names of hosts, which are no numbers, as words. */
static int compare_rows(const void *a, const void *b)
{
    const struct rank_row *left = a, *right = b;
    if (left->state != right->state)
        return left->state > right->state ? -1 : 1;
    unsigned long one = strtoul(left->name, NULL, 10), other = strtoul(right->name, NULL, 10);
    return one != other ? (one > other ? 1 : -1) : strcmp(left->name, right->name);
}

/* Sets the share of a cause that is the furthest above the mean of the others. */
static void find_reason(struct rank_row *row, const double *sums, size_t known)
{
    static const char *const words[] = {"waits for a CPU", "waits for storage", "computes"};
    const double own[] = {row->shares.cpu_wait, row->shares.storage, row->shares.computing};
    double furthest = 0;
    for (int i = 0; i < 3 && known > 1; i++) {
        double others = (sums[i] - own[i]) / (double)(known - 1);
        if (own[i] - others <= furthest)
            continue;
        furthest = own[i] - others;
        if (row->state == RANK_STRAGGLER || furthest >= HELD_SHARE)
            snprintf(row->note, sizeof row->note, "%s %.0f %%, the others %.0f %%", words[i],
                100 * own[i], 100 * others);
    }
    if (furthest >= HELD_SHARE && row->state == RANK_RUNS)
        row->state = RANK_STRAGGLER;
}

void ranks_judge(struct rank_row *rows, size_t count)
{
    double sums[3] = {0};
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rank_row *row = &rows[i];
        if (isnan(row->shares.computing) || row->state == RANK_SILENT)
            continue;
        known++;
        sums[0] += row->shares.cpu_wait;
        sums[1] += row->shares.storage;
        sums[2] += row->shares.computing;
    }
    for (size_t i = 0; i < count; i++)
        if (!isnan(rows[i].shares.computing) &&
            (rows[i].state == RANK_RUNS || rows[i].state == RANK_STRAGGLER))
            find_reason(&rows[i], sums, known);
    if (count > 0)
        qsort(rows, count, sizeof *rows, compare_rows);
}

/* ---- what is shared ---- */

/* Drops one of the owners; the last one frees the ranks. */
static void release(struct ranks *ranks)
{
    pthread_mutex_lock(&ranks->lock);
    bool is_last = --ranks->owners == 0;
    pthread_mutex_unlock(&ranks->lock);
    if (!is_last)
        return;
    pthread_mutex_destroy(&ranks->lock);
    close(ranks->stop_fd);
    free(ranks->rows);
    free(ranks->source);
    free(ranks);
}

/* Waits; false: it is over. */
static bool rest(const struct ranks *ranks, int64_t ms)
{
    struct pollfd stop = {.fd = ranks->stop_fd, .events = POLLIN};
    return poll(&stop, 1, (int)ms) == 0;
}

/* ---- pages ---- */

/* Waits until a socket is ready, or until `due_ms`. False with errno: it is not. */
static bool await(const struct ranks *ranks, int fd, short events, int64_t due_ms)
{
    struct pollfd waited[] = {
        {.fd = fd, .events = events}, {.fd = ranks->stop_fd, .events = POLLIN}};
    int64_t left = due_ms - clock_monotonic_ms();
    errno = ETIMEDOUT;
    return left > 0 && poll(waited, 2, (int)left) > 0 && !waited[1].revents;
}

/* Connects; -1 with errno. */
static int connect_to(const struct ranks *ranks, const struct addrinfo *address, int64_t due_ms)
{
    int failure = 0;
    socklen_t size = sizeof failure;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, address->ai_addr, address->ai_addrlen) == 0)
        return fd;
    failure = errno;
    if (failure == EINPROGRESS) {
        if (!await(ranks, fd, POLLOUT, due_ms))
            failure = ETIMEDOUT;
        else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &failure, &size) != 0)
            failure = errno;
    }
    if (failure == 0)
        return fd;
    close(fd);
    errno = failure;
    return -1;
}

/* Asks for the page. Returns what came, which the caller frees; NULL with a reason. Addresses are
 * looked up once, and again after they failed: many ranks ask every second. */
static char *fetch(struct page *page, char reason[80])
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    /* Without a name of the host: a page knows its own names alone, and a cluster has more. */
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n";
    char *text = NULL;
    int fd = -1, failure = 0;
    size_t length = 0, capacity = 0;
    if (!page->addresses)
        failure = getaddrinfo(page->host, page->port, &hints, &page->addresses);
    if (failure) {
        page->addresses = NULL;
        snprintf(reason, 80, "%s", gai_strerror(failure));
        return NULL;
    }
    int64_t due_ms = clock_monotonic_ms() + PAGE_MS;
    for (const struct addrinfo *at = page->addresses; at && fd < 0; at = at->ai_next)
        fd = connect_to(page->ranks, at, due_ms);
    if (fd < 0) {
        snprintf(reason, 80, "%s", strerror(errno));
        freeaddrinfo(page->addresses);
        page->addresses = NULL;
        return NULL;
    }
    bool is_whole =
        send(fd, request, sizeof request - 1, MSG_NOSIGNAL) == (ssize_t)sizeof request - 1;
    bool goes_on = is_whole;
    while (goes_on && await(page->ranks, fd, POLLIN, due_ms) && length < PAGE_BYTES) {
        if (length + 4096 > capacity) {
            char *grown = realloc(text, capacity = capacity * 2 + 65536);
            if (!grown)
                break;
            text = grown;
        }
        ssize_t got = recv(fd, text + length, capacity - length - 1, 0);
        if (got < 0 && errno == EAGAIN)
            continue;
        length += got > 0 ? (size_t)got : 0;
        goes_on = got > 0;
        is_whole = got == 0;
    }
    close(fd);
    if (!goes_on && is_whole && length > 0) {
        text[length] = '\0';
        return text;
    }
    if (goes_on)
        snprintf(reason, 80, "no whole answer within %d s", PAGE_MS / 1000);
    else
        snprintf(reason, 80, "it ended the connection without an answer");
    free(text);
    return NULL;
}

/* Reads one page again and again. */
static void *read_page(void *user)
{
    struct page *page = user;
    struct ranks *ranks = page->ranks;
    do {
        char reason[80];
        char *text = fetch(page, reason);
        const char *body = text ? strstr(text, "\r\n\r\n") : NULL;
        pthread_mutex_lock(&ranks->lock);
        struct rank_row *row = &ranks->rows[page->index], now = *row;
        if (text && (!body || !rank_parse_page(body, &now)))
            snprintf(reason, sizeof reason, "it is no page of gpu-tracker");
        else if (text && isnan(now.seconds))
            snprintf(reason, sizeof reason, "there is no sample yet");
        if (body && !isnan(now.seconds)) {
            rank_compare(row, &now);
            now.state = RANK_RUNS;
            *row = now;
        } else {
            row->state = RANK_SILENT;
            snprintf(row->note, sizeof row->note, "%s", reason);
        }
        ranks->has_changed = true;
        pthread_mutex_unlock(&ranks->lock);
        free(text);
    } while (rest(ranks, PAUSE_MS));
    if (page->addresses)
        freeaddrinfo(page->addresses);
    free(page);
    release(ranks);
    return NULL;
}

/* ---- a folder ---- */

/* What `gpu-tracker job` knows of a rank. */
static void read_rank(const struct gput_table *table, size_t index, struct rank_row *row)
{
    static const char prefix[] = "time_went_";
    double rank = table_cells_number_of(table, index, "rank"),
           status = table_cells_number_of(table, index, "exit_status"),
           signal = table_cells_number_of(table, index, "signal");
    *row = unknown_row();
    if (isnan(rank)) {
        const char *path = table_cells_text_of(table, index, "path"), *slash = strrchr(path, '/');
        snprintf(row->name, sizeof row->name, "%s", slash ? slash + 1 : path);
    } else {
        snprintf(row->name, sizeof row->name, "%.0f", rank);
    }
    snprintf(row->machine, sizeof row->machine, "%s", table_cells_text_of(table, index, "machine"));
    if (!isnan(table_cells_number_of(table, index, "pid")))
        snprintf(row->pid, sizeof row->pid, "%.0f", table_cells_number_of(table, index, "pid"));
    row->seconds = table_cells_number_of(table, index, "seconds");
    row->cpu_seconds = table_cells_number_of(table, index, "cpu_seconds");
    row->allowed_cores = table_cells_number_of(table, index, "share_cores");
    if (isnan(row->allowed_cores))
        row->allowed_cores = table_cells_number_of(table, index, "cores");
    row->ram_bytes = table_cells_number_of(table, index, "max_ram_bytes");
    row->capacity_bytes = table_cells_number_of(table, index, "allowed_ram_bytes");
    row->gpu_percent = table_cells_number_of(table, index, "gpu_percent");
    for (size_t i = 0; i < gput_table_column_count(table); i++) {
        char cause[48];
        const char *name = gput_table_column_name(table, i);
        if (strncmp(name, prefix, sizeof prefix - 1) != 0)
            continue;
        snprintf(cause, sizeof cause, "%s", name + sizeof prefix - 1);
        char *unit = strstr(cause, "_seconds");
        if (unit)
            *unit = '\0';
        add_cause(row, cause, table_cells_number(table, index, i));
    }
    row->state = table_cells_number_of(table, index, "is_straggler") > 0 ? RANK_STRAGGLER
                 : isnan(status) && isnan(signal)                        ? RANK_RUNS
                                                                         : RANK_ENDED;
    if (status > 0 || signal > 0) {
        row->state = RANK_FAILED;
        snprintf(row->note, sizeof row->note, signal > 0 ? "signal %.0f" : "exit status %.0f",
            signal > 0 ? signal : status);
    }
}

/* The row of a rank in the reading before; NULL: it was not there. */
static const struct rank_row *find_before(
    const struct rank_row *rows, size_t count, const struct rank_row *row)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, row->name) == 0 && strcmp(rows[i].pid, row->pid) == 0 &&
            strcmp(rows[i].machine, row->machine) == 0)
            return &rows[i];
    return NULL;
}

/* Reads the folder once. */
static void read_folder_once(struct ranks *ranks)
{
    struct gput_error error = {0};
    struct gput_jobs *jobs = NULL;
    struct gput_tables *tables = NULL;
    struct rank_row *rows = NULL;
    const char *path = ranks->source;
    size_t count = 0;
    int code = gput_jobs_create(&path, 1, &jobs, &error);
    if (code == GPUT_OK)
        code = gput_jobs_tables(jobs, &tables, &error);
    const struct gput_table *table = code == GPUT_OK ? gput_tables_find(tables, "ranks") : NULL;
    if (table && (rows = calloc(gput_table_row_count(table) + 1, sizeof *rows)))
        count = gput_table_row_count(table);
    struct rank_row none = unknown_row();
    for (size_t i = 0; i < count; i++) {
        read_rank(table, i, &rows[i]);
        const struct rank_row *before = find_before(ranks->rows, ranks->count, &rows[i]);
        rank_compare(before ? before : &none, &rows[i]);
    }
    gput_tables_destroy(tables);
    gput_jobs_destroy(jobs);
    pthread_mutex_lock(&ranks->lock);
    if (rows) {
        free(ranks->rows);
        ranks->rows = rows;
        ranks->count = count;
    }
    snprintf(ranks->message, sizeof ranks->message, "%.190s", code == GPUT_OK ? "" : error.message);
    ranks->has_changed = true;
    pthread_mutex_unlock(&ranks->lock);
}

/* Reads the folder again and again in a thread of its own, for a small share of the time. */
static void *read_folder(void *user)
{
    struct ranks *ranks = user;
    int64_t pause;
    do {
        int64_t start = clock_monotonic_ms();
        read_folder_once(ranks);
        pause = FOLDER_SHARE * (clock_monotonic_ms() - start);
    } while (rest(ranks, pause > FOLDER_PAUSE_MS ? pause : FOLDER_PAUSE_MS));
    release(ranks);
    return NULL;
}

/* ---- beginning and end ---- */

/* Starts a thread, which is an owner. */
static bool start(struct ranks *ranks, void *(*run)(void *), void *user)
{
    pthread_mutex_lock(&ranks->lock);
    ranks->owners++;
    pthread_mutex_unlock(&ranks->lock);
    bool has_started = thread_start(NULL, THREAD_STACK_BYTES, run, user) == 0;
    if (!has_started)
        release(ranks);
    return has_started;
}

/* Makes a row and a thread of "HOST:PORT" or "[ADDRESS]:PORT". */
static int start_page(struct ranks *ranks, const char *name, size_t index, struct gput_error *error)
{
    const char *colon = strrchr(name, ':');
    struct page *page = calloc(1, sizeof *page);
    if (!page)
        return error_memory(error);
    *page = (struct page){.ranks = ranks, .index = index};
    bool is_address = name[0] == '[' && colon && colon[-1] == ']';
    int skipped = is_address ? 1 : 0;
    if (colon)
        snprintf(page->host, sizeof page->host, "%.*s", (int)(colon - name) - 2 * skipped,
            name + skipped);
    snprintf(page->port, sizeof page->port, "%s", colon ? colon + 1 : "");
    if (!page->host[0] || !page->port[0] ||
        strspn(page->port, "0123456789") != strlen(page->port)) {
        free(page);
        return error_set(error, GPUT_ERROR_INVALID,
            "\"%s\" is neither a folder nor HOST:PORT of a rank that runs with --listen.", name);
    }
    if (start(ranks, read_page, page))
        return GPUT_OK;
    free(page);
    return error_set(error, GPUT_ERROR_IO, "No thread can be started.");
}

/* Starts a thread for each page that is asked. */
static int start_pages(struct ranks *ranks, struct gput_error *error)
{
    size_t count = 1;
    for (const char *at = ranks->source; *at; at++)
        count += *at == ',';
    ranks->rows = calloc(count, sizeof *ranks->rows);
    if (!ranks->rows)
        return error_memory(error);
    ranks->count = count;
    char *names = ranks->source;
    for (size_t i = 0; i < count; i++) {
        ranks->rows[i] = unknown_row();
        const char *name = strsep(&names, ",");
        snprintf(ranks->rows[i].name, sizeof ranks->rows[i].name, "%s", name);
        snprintf(ranks->rows[i].note, sizeof ranks->rows[i].note, "is asked");
        TRY(start_page(ranks, name, i, error));
    }
    return GPUT_OK;
}

int ranks_open(const char *source, struct ranks **ranks, struct gput_error *error)
{
    struct stat info;
    struct ranks *opened = calloc(1, sizeof *opened);
    *ranks = NULL;
    if (!opened)
        return error_memory(error);
    opened->owners = 1;
    opened->stop_fd = eventfd(0, EFD_CLOEXEC);
    opened->source = strdup(source);
    pthread_mutex_init(&opened->lock, NULL);
    int code = GPUT_OK;
    if (opened->stop_fd < 0 || !opened->source)
        code = error_set(error, GPUT_ERROR_IO, "%s", strerror(errno));
    else if (stat(source, &info) != 0)
        code = start_pages(opened, error);
    else if (!start(opened, read_folder, opened))
        code = error_set(error, GPUT_ERROR_IO, "No thread can be started.");
    if (code == GPUT_OK)
        *ranks = opened;
    else
        ranks_close(opened);
    return code;
}

void ranks_close(struct ranks *ranks)
{
    if (!ranks)
        return;
    if (ranks->stop_fd >= 0)
        (void)!write(ranks->stop_fd, &(uint64_t){1}, sizeof(uint64_t));
    release(ranks);
}

bool ranks_copy(struct ranks *ranks, struct rank_row **rows, size_t *count, char message[200])
{
    *rows = NULL;
    *count = 0;
    pthread_mutex_lock(&ranks->lock);
    bool has_changed = ranks->has_changed;
    if (has_changed && (*rows = calloc(ranks->count + 1, sizeof **rows))) {
        *count = ranks->count;
        if (ranks->count > 0)
            memcpy(*rows, ranks->rows, ranks->count * sizeof **rows);
        memcpy(message, ranks->message, sizeof ranks->message);
        ranks->has_changed = false;
    }
    pthread_mutex_unlock(&ranks->lock);
    if (!*rows)
        return false;
    ranks_judge(*rows, *count);
    return true;
}
