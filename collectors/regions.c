#include "regions.h"

#include "analysis/blocks/blocks_state.h"
#include "base/file.h"
#include "files/marks/sub_tracking_labels.h"
#include "machine/os/launcher.h"
#include "region_thread.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Opening ---- */

/* Returns a variable of the environment; NULL: it is not set. It is also NULL in a program that
 * changes its user or has capabilities: the user who starts it must not choose where it writes. */
static const char *text_of(const char *variable)
{
    const char *text = secure_getenv(variable);
    return text && *text ? text : NULL;
}

/* Returns a number of the environment; `usual` if it is missing or invalid. */
static long long number_of(const char *variable, long long usual)
{
    const char *text = text_of(variable);
    char *end;
    long long value = text ? strtoll(text, &end, 10) : usual;
    return text && *end == '\0' && value >= 0 ? value : usual;
}

void *regions_map_file(const struct regions *regions, const char *suffix, size_t size)
{
    char path[4096];
    int fd = -1;
    for (unsigned i = 0; fd < 0 && i < 100; i++) {
        int length = snprintf(path, sizeof path, "%s/%s-%ld-%u.%s", regions->folder,
            regions->source, (long)getpid(), i, suffix);
        if (length < 0 || (size_t)length >= sizeof path)
            return NULL;
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (fd < 0)
        return NULL;
    void *mapped = MAP_FAILED;
    struct file_limit limit; /* blocks SIGXFSZ, which would end the program */
    file_limit_block_signal(&limit);
    int failure = posix_fallocate(fd, 0, (off_t)size);
    file_limit_unblock_signal(&limit);
    if (failure == 0)
        mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

/* Makes the status file, from which the command learns what was not recorded, and why. */
static bool open_status(struct regions *regions)
{
    struct region_status *status = regions_map_file(regions, "status", sizeof *status);
    if (!status)
        return false;
    status->version = REGION_STATUS_VERSION;
    status->process_id = (int32_t)getpid();
    snprintf(status->source, sizeof status->source, "%s", regions->source);
    memcpy(status->magic, REGION_STATUS_MAGIC, sizeof status->magic);
    regions->status = status;
    return true;
}

/* Writes to the status file why nothing is recorded. */
static bool fail(struct regions *regions, const char *reason)
{
    char *failure = regions->status->failure;
    snprintf(failure, sizeof regions->status->failure, "%.*s",
        (int)sizeof regions->status->failure - 1, reason);
    return false;
}

/* Returns "folder/nvtx-%p.gputblocks", with percent signs of the folder doubled. */
static char *make_path(const char *folder, const char *source)
{
    size_t used = 0;
    char *path = malloc(2 * strlen(folder) + strlen(source) + 32);
    for (; path && *folder; folder++) {
        path[used++] = *folder;
        if (*folder == '%')
            path[used++] = '%';
    }
    if (path)
        sprintf(path + used, "/%s-%%p.gputblocks", source);
    return path;
}

bool regions_open(struct regions *regions, const char *source)
{
    const char *folder = text_of("GPUT_REGIONS_FOLDER");
    const char *filter = text_of("GPUT_REGION_FILTER");
    regions->source = source;
    regions->folder = folder ? strdup(folder) : NULL;
    if (!regions->folder || !open_status(regions))
        return false;
    regions->max_depth = (unsigned)number_of("GPUT_REGION_DEPTH", UINT32_MAX);
    regions->min_ns = number_of("GPUT_REGION_MIN_NS", 0);
    if (filter)
        region_filter_read(&regions->filter, filter);
    regions->path = make_path(folder, source);
    if (!regions->path)
        return fail(regions, "There was no memory.");
    if (pthread_key_create(&regions->key, region_thread_destroy) != 0)
        return fail(regions, "The program uses all keys of threads itself.");
    return true;
}

/* The one struct regions of this library. */
static struct regions *opened;

/* Opens the log at the first region that is recorded. */
static void open_log(void)
{
    struct gput_error error = {0};
    struct gput_blocks *blocks;
    struct gput_blocks_options options = gput_blocks_options_default();
    options.join = true; /* after an execve() there may already be a log of this process id */
    options.procfs_root = text_of("GPUT_PROCFS");
    options.sysfs_root = text_of("GPUT_SYSFS");
    if (opened->min_ns == 0)
        gput_blocks_options_read_exact(&options, text_of("GPUT_BLOCK_EXACT"), NULL);
    if (gput_blocks_open(opened->path, &options, &blocks, &error) != GPUT_OK) {
        fail(opened, error.message);
        return;
    }
    blocks->has_constant_names = true; /* names are interned */
    atomic_store_explicit(&opened->blocks, blocks, memory_order_release);
}

struct gput_blocks *regions_open_log(struct regions *regions)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    opened = regions;
    pthread_once(&once, open_log);
    return atomic_load(&regions->blocks);
}

/* ---- Labels ---- */

/* Writes a call without a duration, whose name is the label. The text is not freed, as the log
 * refers to it. */
static void write_label(struct gput_blocks *blocks, const char *text)
{
    const char *name = blocks ? strdup(text) : NULL;
    if (!name)
        return;
    gput_blocks_mark(blocks, name, GPUT_BLOCK_START);
    gput_blocks_mark(blocks, name, GPUT_BLOCK_STOP);
}

static const char *variable_of(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

void regions_label(struct regions *regions, uint64_t process)
{
    struct launcher launcher;
    char name[SUB_TRACKING_LABEL_SIZE];
    if (process == 0 || atomic_exchange(&regions->labelled, process) == process)
        return;
    launcher_parse(variable_of, NULL, &launcher);
    sub_tracking_label_rank(launcher.rank, name);
    if (launcher.rank >= 0)
        write_label(regions_log(regions), name);
}

void regions_name_category(struct regions *regions, const char *name)
{
    char category[REGION_CATEGORY_SIZE], label[SUB_TRACKING_LABEL_SIZE];
    if (!region_category_of(name, category))
        return;
    sub_tracking_label_category(category, label);
    write_label(regions_log(regions), label);
}

void regions_name_thread(struct regions *regions, int64_t thread_id, const char *name)
{
    struct gput_blocks *blocks = name && *name ? regions_log(regions) : NULL;
    char label[SUB_TRACKING_LABEL_SIZE];
    sub_tracking_label_thread(thread_id, name ? name : "", label);
    write_label(blocks, label);
}

void regions_count(struct regions *regions, unsigned slot, enum region_left_out reason)
{
    atomic_fetch_add_explicit(&regions->status->slots[slot % REGION_STATUS_SLOTS].left_out[reason],
        1, memory_order_relaxed);
}

/* ---- Domains and names ---- */

/* Finds a domain by its prefix, among those before `end`. */
static struct region_domain *find_domain(
    struct region_domain *domain, const char *prefix, const struct region_domain *end)
{
    while (domain != end && strcmp(domain->prefix, prefix) != 0)
        domain = domain->next;
    return domain != end ? domain : NULL;
}

/* Returns the length of a text, cut to at most `max` bytes at the start of a UTF-8 character. */
static size_t cut_length(const char *text, size_t max)
{
    size_t length = strnlen(text, max + 1);
    if (length <= max)
        return length;
    length = max;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

struct region_domain *regions_domain(struct regions *regions, const char *text)
{
    char prefix[REGION_NAME_MAX / 2];
    if (!text || !*text)
        text = "default";
    int source = snprintf(prefix, sizeof prefix, "%s:", regions->source);
    size_t length = cut_length(text, sizeof prefix - (size_t)source - 2);
    snprintf(prefix + source, sizeof prefix - (size_t)source, "%.*s/", (int)length, text);
    struct region_domain *first = atomic_load(&regions->domains);
    struct region_domain *found = find_domain(first, prefix, NULL);
    if (found)
        return found;
    size_t size = strlen(prefix) + 1;
    struct region_domain *made = calloc(1, sizeof *made + size);
    if (!made)
        return NULL;
    memcpy(made->prefix, prefix, size);
    made->prefix_length = size - 1;
    made->other_names = regions_name(regions, made, "(other names)");
    made->next = first;
    /* Another thread may be adding a domain, too. If it is the same one, this one stays unused. */
    while (!atomic_compare_exchange_strong(&regions->domains, &first, made)) {
        found = find_domain(first, prefix, made->next);
        if (found)
            return found;
        made->next = first;
    }
    return made;
}

/* Returns the hash of a name in its domain. */
static uint32_t hash_of(const struct region_domain *domain, const char *text, size_t length)
{
    uint32_t hash = UINT32_C(2166136261) ^ (uint32_t)((uintptr_t)domain >> 4);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT32_C(16777619);
    return hash;
}

/* Finds a name in its bucket; NULL: it is new. */
static const struct region_name *find_name(
    const struct region_name *name, const struct region_name *like, const char *text, size_t length)
{
    for (; name; name = name->next) {
        const char *own = name->full + like->domain->prefix_length;
        if (name->hash == like->hash && name->domain == like->domain &&
            strncmp(own, text, length) == 0 && own[length] == '\0')
            return name;
    }
    return NULL;
}

/* Makes a name, and decides whether its ranges are recorded. */
static struct region_name *make_name(
    struct regions *regions, const struct region_name *like, const char *text, size_t length)
{
    const struct region_domain *domain = like->domain;
    char of_domain[REGION_NAME_MAX];
    struct region_name *made = malloc(sizeof *made + domain->prefix_length + length + 1);
    if (!made)
        return NULL;
    made->domain = domain;
    made->next = NULL;
    made->hash = like->hash;
    atomic_init(&made->value, NULL);
    memcpy(made->full, domain->prefix, domain->prefix_length);
    memcpy(made->full + domain->prefix_length, text, length);
    made->full[domain->prefix_length + length] = '\0';
    const char *start = strchr(domain->prefix, ':') + 1;
    snprintf(of_domain, sizeof of_domain, "%.*s", (int)strlen(start) - 1, start);
    made->is_recorded =
        region_filter_wants(&regions->filter, of_domain, made->full + domain->prefix_length);
    return made;
}

const struct region_name *regions_name(
    struct regions *regions, struct region_domain *domain, const char *text)
{
    size_t length = cut_length(text, REGION_NAME_MAX - domain->prefix_length);
    struct region_name like = {.domain = domain, .hash = hash_of(domain, text, length)};
    _Atomic(struct region_name *) *bucket = &regions->names[like.hash % REGION_NAME_BUCKETS];
    struct region_name *first = atomic_load_explicit(bucket, memory_order_acquire);
    const struct region_name *found = find_name(first, &like, text, length);
    if (found)
        return found;
    if (domain->other_names && atomic_load(&regions->n_names) >= REGION_NAMES_MAX)
        return domain->other_names;
    struct region_name *made = make_name(regions, &like, text, length);
    while (made) {
        made->next = first;
        if (atomic_compare_exchange_strong(bucket, &first, made)) {
            atomic_fetch_add(&regions->n_names, 1);
            return made;
        }
        found = find_name(first, &like, text, length);
        if (found) {
            free(made);
            return found;
        }
    }
    return NULL;
}
