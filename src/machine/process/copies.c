#include "machine/process/copies.h"

#include "machine/process/bytes.h"

/* With this many faults, the share of copies among them is known. */
#define FAULTS_FOR_A_PART 64

/* `then`, plus the change from `before` to `now`. */
static uint64_t shifted(uint64_t then, uint64_t before, uint64_t now)
{
    return now >= before ? then + (now - before) : bytes_minus(then, before - now);
}

void copies_begin(struct process *process, struct process *parent)
{
    struct copies *copies = &process->polled->metered.copies;
    if (copies->has_begun)
        return;
    copies->has_begun = true;
    copies->anonymous_bytes = memory_anonymous_bytes(&process->polled->memory);
    if (parent)
        parent->polled->metered.copies.alone_bytes = parent->polled->metered.copies.least_bytes = 0;
}

/* Returns how much the process may have copied since its last reading, or its fork, up to that
 * number of faults. */
static uint64_t at_most_copied(const struct process *process, uint64_t faults, uint64_t page_bytes)
{
    const struct copies *copies = &process->polled->metered.copies;
    uint64_t anonymous = memory_anonymous_bytes(&process->polled->memory);
    uint64_t grown = bytes_minus(anonymous, copies->anonymous_bytes);
    uint64_t bytes = bytes_minus(faults, copies->faults) * page_bytes;
    return bytes_min(bytes_minus(bytes, grown), anonymous);
}

static uint64_t at_most_until_now(const struct process *process, uint64_t page_bytes)
{
    return at_most_copied(process, process->polled->stat.minor_faults, page_bytes);
}

/*
 * Behaviour that members of a family share: the part of the faults that were copies, of the fork
 * that was read last. The process that they were forked from copies where they have not, so it
 * is no example.
 */
struct part {
    double part;
    double highest;  /* of all that are known; 1 where none is */
    int64_t read_ns; /* 0: none is known */
};

/* Returns the part that was found last among processes without forks of their own, and the highest.
 */
static struct part latest_part(struct process *const *members, size_t count)
{
    struct part latest = {0};
    for (size_t i = 0; i < count; i++) {
        const struct copies *copies = &members[i]->polled->metered.copies;
        if (members[i]->polled->metered.forks.any || !copies->has_part)
            continue;
        latest.highest = copies->part > latest.highest ? copies->part : latest.highest;
        if (copies->part_ns > latest.read_ns) {
            latest.part = copies->part;
            latest.read_ns = copies->part_ns;
        }
    }
    if (latest.read_ns == 0)
        latest.highest = 1;
    return latest;
}

static double part_of(const struct process *process, struct part latest)
{
    const struct copies *copies = &process->polled->metered.copies;
    if (process->polled->metered.forks.any)
        return copies->has_part ? copies->part : 0;
    return latest.part;
}

static double highest_part_of(const struct process *process, struct part latest)
{
    const struct copies *copies = &process->polled->metered.copies;
    if (process->polled->metered.forks.any)
        return copies->has_part ? copies->part : 1;
    return latest.highest;
}

/* No more than it has; but what other processes were forked from has left to these what it copied
 * since. */
static uint64_t own_at_most(const struct process *process, uint64_t bytes)
{
    return process->polled->metered.forks.any
               ? bytes
               : bytes_min(bytes, memory_anonymous_bytes(&process->polled->memory));
}

/*
 * Returns the memory that a process has alone: what it had when it was read, what it allocated
 * since, and the given part of what it may have copied. Memory that it freed was its own in
 * proportion.
 */
static uint64_t own_bytes(const struct process *process, double part, uint64_t page_bytes)
{
    const struct copies *copies = &process->polled->metered.copies;
    uint64_t anonymous = memory_anonymous_bytes(&process->polled->memory);
    uint64_t own = copies->own_bytes;
    if (anonymous >= copies->anonymous_bytes)
        own += anonymous - copies->anonymous_bytes;
    else
        own = (uint64_t)((double)own * (double)anonymous / (double)copies->anonymous_bytes);
    own += (uint64_t)(part * (double)at_most_until_now(process, page_bytes));
    return own_at_most(process, bytes_max(own, copies->grown_bytes));
}

/* Returns what the members have alone, and what they share. That was shared when they were read,
 * or inherited by forks since then, also from a process that has ended. */
static uint64_t sum_of(struct process *const *members, size_t count, uint64_t page_bytes,
    struct part latest, bool is_highest)
{
    uint64_t pool = 0, read = 0, forks = 0, inherited = 0, all = 0, highest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct copies *copies = &members[i]->polled->metered.copies;
        uint64_t anonymous = memory_anonymous_bytes(&members[i]->polled->memory);
        double part =
            is_highest ? highest_part_of(members[i], latest) : part_of(members[i], latest);
        uint64_t own = own_bytes(members[i], part, page_bytes);
        all += anonymous;
        bytes_raise(&highest, anonymous);
        if (copies->has_basis) {
            read += own;
            bytes_raise(&pool, copies->pool_bytes);
        } else {
            forks += own;
            bytes_raise(&inherited, bytes_minus(anonymous, own));
        }
    }
    return bytes_min(bytes_max(bytes_max(pool + read, inherited) + forks, highest), all);
}

struct family_memory family_memory_of(
    struct process *const *members, size_t count, uint64_t page_bytes)
{
    struct part latest = latest_part(members, count);
    struct family_memory family = {.is_unread = count > 1 && latest.read_ns == 0,
        .bytes = sum_of(members, count, page_bytes, latest, false),
        .highest_bytes = sum_of(members, count, page_bytes, latest, true)};
    for (size_t i = 0; i < count; i++) {
        const struct copies *copies = &members[i]->polled->metered.copies;
        family.certain_bytes += copies->has_basis
                                    ? shifted(copies->share_bytes, copies->basis_anonymous_bytes,
                                          memory_anonymous_bytes(&members[i]->polled->memory))
                                    : copies->grown_bytes;
    }
    family.certain_bytes = bytes_min(family.certain_bytes, family.bytes);
    return family;
}

/* Returns what the member that copied least has alone. Main, or whatever else these were forked
 * from, has as much alone if all copy the same. */
static uint64_t least_own_bytes(const struct process *process, struct process *const *members,
    size_t count, uint64_t page_bytes)
{
    struct part latest = latest_part(members, count);
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (members[i] != process)
            least =
                bytes_min(least, own_bytes(members[i], part_of(members[i], latest), page_bytes));
    }
    return least == UINT64_MAX ? 0 : least;
}

uint64_t copies_alone_bytes(const struct process *process, struct process *const *members,
    size_t count, uint64_t page_bytes)
{
    const struct copies *copies = &process->polled->metered.copies;
    uint64_t anonymous = memory_anonymous_bytes(&process->polled->memory);
    uint64_t least = least_own_bytes(process, members, count, page_bytes);
    uint64_t alone = shifted(copies->alone_bytes, copies->anonymous_bytes, anonymous);
    return bytes_min(shifted(alone, copies->least_bytes, least), anonymous);
}

uint64_t copies_unknown(const struct process *process, struct process *const *members, size_t count,
    uint64_t page_bytes)
{
    const struct copies *copies = &process->polled->metered.copies;
    uint64_t anonymous = memory_anonymous_bytes(&process->polled->memory);
    uint64_t bytes =
        at_most_until_now(process, page_bytes) + bytes_minus(copies->anonymous_bytes, anonymous);
    if (process->is_main)
        bytes +=
            bytes_minus(least_own_bytes(process, members, count, page_bytes), copies->least_bytes);
    return bytes;
}

void copies_add_reading(struct process *process, struct process *const *members, size_t count,
    uint64_t page_bytes, int64_t now_ns)
{
    struct metered *metered = &process->polled->metered;
    struct copies *copies = &metered->copies;
    const struct memory *memory = &process->polled->memory;
    uint64_t anonymous = memory_anonymous_bytes(memory);
    uint64_t alone = bytes_minus(anonymous, memory_anonymous_shared_bytes(memory));
    uint64_t grown = bytes_minus(anonymous, copies->anonymous_bytes);
    uint64_t at_most = at_most_copied(process, metered->exact.faults, page_bytes);
    uint64_t copied = bytes_minus(alone, copies->alone_bytes + grown);
    if (metered->forks.any)
        copied = bytes_minus(copied, least_own_bytes(process, members, count, page_bytes));
    copied = bytes_min(copied, at_most);
    if (at_most >= FAULTS_FOR_A_PART * page_bytes) {
        copies->part = (double)copied / (double)at_most;
        copies->has_part = true;
        copies->part_ns = now_ns;
    }
    uint64_t lost = bytes_minus(copies->alone_bytes + grown, alone);
    copies->own_bytes = own_at_most(process, bytes_minus(copies->own_bytes + grown + copied, lost));
    copies->alone_bytes = alone;
    copies->anonymous_bytes = anonymous;
    copies->faults = metered->exact.faults;
    copies->least_bytes =
        metered->forks.any ? least_own_bytes(process, members, count, page_bytes) : 0;
}

void copies_set_basis(struct process *const *members, size_t count, uint64_t page_bytes)
{
    uint64_t pool = 0, shared = 0;
    for (size_t i = 0; i < count; i++) {
        const struct memory *memory = &members[i]->polled->memory;
        if (!memory->has_exact)
            continue;
        struct copies *copies = &members[i]->polled->metered.copies;
        uint64_t anonymous = memory_anonymous_bytes(memory);
        copies->has_begun = copies->has_basis = true;
        copies->share_bytes = memory_anonymous_share_bytes(memory);
        copies->own_bytes = copies->alone_bytes =
            bytes_minus(anonymous, memory_anonymous_shared_bytes(memory));
        copies->basis_anonymous_bytes = copies->anonymous_bytes = anonymous;
        copies->faults = members[i]->polled->metered.exact.faults;
        pool += bytes_minus(copies->share_bytes, copies->own_bytes);
        bytes_raise(&shared, anonymous - copies->own_bytes);
    }
    /* Forks that no scan has seen share it, too: proportional shares do not add up then. */
    bytes_raise(&pool, shared);
    for (size_t i = 0; i < count; i++) {
        struct metered *metered = &members[i]->polled->metered;
        metered->copies.pool_bytes = pool;
        if (metered->forks.any)
            metered->copies.least_bytes = least_own_bytes(members[i], members, count, page_bytes);
    }
}
