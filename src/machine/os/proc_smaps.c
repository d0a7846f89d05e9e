#include "machine/os/proc_smaps.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* ---- lines of smaps and smaps_rollup: "Private_Clean:         84 kB" ---- */

enum smaps_key {
    SMAPS_RSS,
    SMAPS_PSS,
    SMAPS_PSS_ANONYMOUS,
    SMAPS_PSS_FILE,
    SMAPS_PSS_SHMEM,
    SMAPS_PRIVATE, /* Private_Clean and Private_Dirty: values of one key are added up */
    SMAPS_SHARED,
    SMAPS_ANONYMOUS,
    SMAPS_PRIVATE_HUGETLB,
    SMAPS_SHARED_HUGETLB,
    SMAPS_KEY_COUNT,
    SMAPS_OTHER = SMAPS_KEY_COUNT,
};

/* The keys found, and the bytes of each. */
struct smaps_fields {
    unsigned seen; /* bit 1 << key */
    uint64_t bytes[SMAPS_KEY_COUNT];
};

/* A comparison with eight fixed bytes is one machine instruction. */
#define SMAPS_STARTS(line, eight_bytes) (memcmp((line), (eight_bytes), 8) == 0)

/* The part of a line that smaps_key_of() reads. */
#define SMAPS_SHORTEST_LINE 9

/* The kernel pads keys to 16 columns: eight bytes, and once the ninth, distinguish them. */
static enum smaps_key smaps_key_of(const char *line)
{
    switch (line[0]) {
    case 'R':
        return SMAPS_STARTS(line, "Rss:    ") ? SMAPS_RSS : SMAPS_OTHER;
    case 'P':
        if (SMAPS_STARTS(line, "Pss:    "))
            return SMAPS_PSS;
        if (SMAPS_STARTS(line, "Private_"))
            return line[8] == 'H' ? SMAPS_PRIVATE_HUGETLB : SMAPS_PRIVATE;
        if (SMAPS_STARTS(line, "Pss_Anon"))
            return SMAPS_PSS_ANONYMOUS;
        if (SMAPS_STARTS(line, "Pss_File"))
            return SMAPS_PSS_FILE;
        return SMAPS_STARTS(line, "Pss_Shme") ? SMAPS_PSS_SHMEM : SMAPS_OTHER;
    case 'S':
        if (SMAPS_STARTS(line, "Shared_C") || SMAPS_STARTS(line, "Shared_D"))
            return SMAPS_SHARED;
        return SMAPS_STARTS(line, "Shared_H") ? SMAPS_SHARED_HUGETLB : SMAPS_OTHER;
    case 'A':
        return SMAPS_STARTS(line, "Anonymou") ? SMAPS_ANONYMOUS : SMAPS_OTHER;
    default:
        return SMAPS_OTHER;
    }
}

/* Mappings begin with an address, fields with a capital letter. */
static bool smaps_is_header(char first)
{
    return scan_is_digit(first) || (first >= 'a' && first <= 'f');
}

/*
 * One line, "Rss: 1612 kB". Returns the byte after it, or NULL when it is truncated. Its number
 * begins at `*number`.
 *
 * The kernel aligns numbers of up to eight digits, so that the newline is nearly always in the same
 * column; checking there first is much faster than a search.
 */
static const char *smaps_scan_line(const char *line, const char *end, const char **number)
{
    if (end - line >= 28 && memcmp(line + 24, " kB\n", 4) == 0) {
        *number = line + 16;
        return line + 28;
    }
    const char *newline = memchr(line, '\n', (size_t)(end - line));
    if (!newline)
        return NULL;
    *number = line;
    while (**number != '\n' && *(*number)++ != ':')
        ;
    return newline + 1;
}

/*
 * Adds up the fields of one mapping, from `position` to the next mapping or the end. Returns where
 * it stopped; `end` when the rest is truncated.
 */
static const char *smaps_scan_fields(
    const char *position, const char *end, struct smaps_fields *fields)
{
    while (position < end && !smaps_is_header(*position)) {
        const char *number;
        const char *next = smaps_scan_line(position, end, &number);
        if (!next)
            return end;
        enum smaps_key key =
            next - position >= SMAPS_SHORTEST_LINE ? smaps_key_of(position) : SMAPS_OTHER;
        uint64_t kib;
        if (key != SMAPS_OTHER && scan_uint64(scan_blanks(number), &kib)) {
            fields->bytes[key] += kib * 1024;
            fields->seen |= 1u << key;
        }
        position = next;
    }
    return position;
}

/* ---- smaps ---- */

struct proc_smaps_cursor proc_smaps_start(const char *text, size_t length)
{
    return (struct proc_smaps_cursor){.position = text, .end = text + length};
}

/* Scans "7f1c5000-7f1c7000 r-xp 00001000 fe:00 1234 /usr/lib/libc.so.6" and its newline. */
static bool scan_header(const char *line, struct memory_mapping *mapping)
{
    uint64_t major, minor;

    line = scan_hexadecimal(line, &mapping->start);
    if (!line || *line++ != '-')
        return false;
    line = scan_hexadecimal(line, &mapping->end);
    if (!line || *line++ != ' ')
        return false;
    for (int i = 0; i < 4; i++)
        if (*line == '\n' || *line++ == '\0')
            return false;
    mapping->is_shared = line[-1] == 's';
    if (*line++ != ' ')
        return false;
    line = scan_hexadecimal(line, &mapping->offset);
    if (!line || *line++ != ' ')
        return false;
    line = scan_hexadecimal(line, &major);
    if (!line || *line++ != ':')
        return false;
    line = scan_hexadecimal(line, &minor);
    if (!line || *line++ != ' ' || !scan_uint64(line, &mapping->inode))
        return false;
    mapping->device = major << 32 | (minor & UINT32_MAX);
    /* System V memory can have inode 0, but never device 0. */
    mapping->is_file_or_shared = mapping->inode != 0 || mapping->device != 0;
    return true;
}

bool proc_smaps_next(struct proc_smaps_cursor *cursor, struct memory_mapping *mapping)
{
    struct scan_line line;

    while (scan_next_line(&cursor->position, cursor->end, &line)) {
        if (!smaps_is_header(*line.start) || !scan_header(line.start, mapping))
            continue;
        struct smaps_fields fields = {0};
        cursor->position = smaps_scan_fields(cursor->position, cursor->end, &fields);
        mapping->rss_bytes = fields.bytes[SMAPS_RSS];
        mapping->pss_bytes = fields.bytes[SMAPS_PSS];
        mapping->private_bytes = fields.bytes[SMAPS_PRIVATE];
        mapping->shared_bytes = fields.bytes[SMAPS_SHARED];
        mapping->anonymous_bytes = fields.bytes[SMAPS_ANONYMOUS];
        mapping->private_hugetlb_bytes = fields.bytes[SMAPS_PRIVATE_HUGETLB];
        mapping->shared_hugetlb_bytes = fields.bytes[SMAPS_SHARED_HUGETLB];

        return true;
    }
    return false;
}

/* Returns where the last mapping of the text begins; those before it are complete. 0: there is only
 * one. */
static size_t last_mapping(const char *text, size_t length)
{
    const char *newline = text + length;

    while ((newline = memrchr(text, '\n', (size_t)(newline - text)))) {
        if (newline + 1 < text + length && smaps_is_header(newline[1]))
            return (size_t)(newline + 1 - text);
    }
    return 0;
}

/* Visits each mapping of a text. */
static void visit_text(const char *text, size_t length, proc_smaps_visit *visit, void *user)
{
    struct proc_smaps_cursor cursor = proc_smaps_start(text, length);
    struct memory_mapping mapping;

    while (proc_smaps_next(&cursor, &mapping))
        visit(user, &mapping);
}

/* Returns 0 or an errno value. */
static int visit_stream(int fd, proc_smaps_visit *visit, void *user)
{
    char text[32768];
    size_t length = 0;

    for (;;) {
        ssize_t got = read(fd, text + length, sizeof text - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        length += (size_t)got;
        /* The kernel returns up to a page per read: continue until another might not fit. */
        if (length + 8192 < sizeof text)
            continue;
        size_t whole = last_mapping(text, length);
        if (whole == 0)
            whole = length; /* no mapping is that long: this is not a smaps file */
        visit_text(text, whole, visit, user);
        memmove(text, text + whole, length - whole);
        length -= whole;
    }
    visit_text(text, length, visit, user);
    return 0;
}

int proc_smaps_read(
    const char *root, pid_t pid, proc_smaps_visit *visit, void *user, struct gput_error *error)
{
    int fd;
    TRY(procfs_open(root, pid, "smaps", &fd, error));
    int errno_value = visit_stream(fd, visit, user);
    close(fd);
    if (errno_value == 0)
        return GPUT_OK;
    return procfs_set_failure(root, pid, "smaps", errno_value, error);
}

/* ---- smaps_rollup ---- */

static bool has(const struct smaps_fields *fields, enum smaps_key key)
{
    return fields->seen >> key & 1;
}

int proc_smaps_rollup_parse(const char *text, struct proc_smaps_rollup *rollup)
{
    const char *end = text + strlen(text);
    struct smaps_fields fields = {0};
    struct scan_line header;

    /* The first line is a range of addresses and "[rollup]". */
    if (smaps_is_header(*text) && !scan_next_line(&text, end, &header))
        return GPUT_ERROR_FORMAT;
    smaps_scan_fields(text, end, &fields);
    if (!has(&fields, SMAPS_RSS) || !has(&fields, SMAPS_PSS))
        return GPUT_ERROR_FORMAT;

    *rollup = (struct proc_smaps_rollup){
        .has_pss_parts = has(&fields, SMAPS_PSS_ANONYMOUS) && has(&fields, SMAPS_PSS_FILE) &&
                         has(&fields, SMAPS_PSS_SHMEM),
        .pss_anonymous_bytes = fields.bytes[SMAPS_PSS_ANONYMOUS],
        .pss_file_bytes = fields.bytes[SMAPS_PSS_FILE] + fields.bytes[SMAPS_PSS_SHMEM],
        .private_bytes = fields.bytes[SMAPS_PRIVATE],
        .shared_bytes = fields.bytes[SMAPS_SHARED],
        .anonymous_bytes = fields.bytes[SMAPS_ANONYMOUS],
        .private_hugetlb_bytes = fields.bytes[SMAPS_PRIVATE_HUGETLB],
        .shared_hugetlb_bytes = fields.bytes[SMAPS_SHARED_HUGETLB],
    };
    return GPUT_OK;
}

int proc_smaps_rollup_read(
    const char *root, pid_t pid, struct proc_smaps_rollup *rollup, struct gput_error *error)
{
    char text[PROCFS_TEXT_SIZE];
    size_t length;

    TRY(procfs_read(root, pid, "smaps_rollup", text, sizeof text, &length, error));
    if (length == 0)
        return error_set(
            error, GPUT_ERROR_GONE, "Process %d has exited or has no memory.", (int)pid);
    if (proc_smaps_rollup_parse(text, rollup) != GPUT_OK)
        return error_set(error, GPUT_ERROR_FORMAT, "%s/%d/smaps_rollup has an unexpected format.",
            root, (int)pid);
    return GPUT_OK;
}
