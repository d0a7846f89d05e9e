#include "analysis/timeline/timeline_tracks.h"

#include "base/array.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Maximum number of lanes of a thread. Further slices go to the last one, nested or not. */
#define MAX_LANES 64

static const struct {
    const char *prefix;
    int64_t first;
} ranges[] = {
    {"Step:", 1},
    {"Forward", 10000},
    {"Backward", 20000},
    {"DataIterator", 30000},
    {"Dataset", 40000},
    {"/device", 50000},
    {"/host", 60000},
    {"gpu_functions", 70000},
    {"cpu_functions", 80000},
    {"Horovod", 90000},
    {"", 1000000},
};

/* Replaces a text by a copy of another one. Returns false without memory. */
static bool replace(char **text, const char *with)
{
    char *copy = strdup(with);
    if (!copy)
        return false;
    free(*text);
    *text = copy;
    return true;
}

uint32_t timeline_trace(struct timeline_tracks *tracks, const char *key, const char *name,
    int64_t rank, int64_t world_size)
{
    uint32_t number = names_add(&tracks->trace_keys, key, strlen(key));
    if (number == NAMES_NONE || number < tracks->trace_count)
        return number;
    if (!ARRAY_EXTEND(tracks->traces, tracks->trace_count))
        return TRACK_NONE;
    tracks->traces[number] = (struct timeline_trace){strdup(name), rank, world_size};
    if (!tracks->traces[number].name)
        return TRACK_NONE;
    tracks->trace_count++;
    return number;
}

uint32_t timeline_process(struct timeline_tracks *tracks, const char *key, const char *name)
{
    uint32_t number = names_add(&tracks->keys, key, strlen(key));
    if (number == NAMES_NONE || number < tracks->process_count)
        return number;
    if (!ARRAY_EXTEND(tracks->processes, tracks->process_count))
        return TRACK_NONE;
    tracks->processes[number] =
        (struct timeline_process){.name = strdup(name), .trace = TRACK_NONE};
    if (!tracks->processes[number].name)
        return TRACK_NONE;
    tracks->process_count++;
    return number;
}

bool timeline_process_rename(struct timeline_tracks *tracks, uint32_t process, const char *name)
{
    return replace(&tracks->processes[process].name, name);
}

bool timeline_process_label(struct timeline_tracks *tracks, uint32_t process, const char *labels)
{
    return replace(&tracks->processes[process].labels, labels);
}

static uint64_t hash_of(uint32_t process, uint32_t source, int64_t number)
{
    uint64_t parts[2] = {(uint64_t)process << 32 | source, (uint64_t)number};
    return names_hash(parts, sizeof parts);
}

static bool thread_is(
    const struct timeline_thread *thread, uint32_t process, uint32_t source, int64_t number)
{
    return thread->number == number && thread->process == process && thread->source == source;
}

/* Makes space for another thread. Returns false without memory. */
static bool grow_threads(struct timeline_tracks *tracks)
{
    if (!ARRAY_EXTEND(tracks->threads, tracks->thread_count))
        return false;
    if (tracks->thread_count * 2 < tracks->slot_count)
        return true;
    uint32_t count = tracks->slot_count ? tracks->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < tracks->thread_count; i++) {
        uint64_t slot = hash_of(
            tracks->threads[i].process, tracks->threads[i].source, tracks->threads[i].number);
        while (slots[slot & (count - 1)] != 0)
            slot++;
        slots[slot & (count - 1)] = i + 1;
    }
    free(tracks->slots);
    tracks->slots = slots;
    tracks->slot_count = count;
    return true;
}

/* Returns the slot of a thread, or the free one where it belongs. */
static uint32_t *slot_of(
    struct timeline_tracks *tracks, uint32_t process, uint32_t source, int64_t number)
{
    uint32_t mask = tracks->slot_count - 1;
    for (uint64_t at = hash_of(process, source, number);; at++) {
        uint32_t *slot = tracks->slots + (at & mask);
        if (*slot == 0 || thread_is(tracks->threads + *slot - 1, process, source, number))
            return slot;
    }
}

uint32_t timeline_thread(
    struct timeline_tracks *tracks, uint32_t process, uint32_t source, int64_t number)
{
    uint32_t last = tracks->last_thread;
    if (last < tracks->thread_count && thread_is(tracks->threads + last, process, source, number))
        return last;
    uint32_t *slot = tracks->slot_count > 0 ? slot_of(tracks, process, source, number) : NULL;
    if (slot && *slot != 0)
        return tracks->last_thread = *slot - 1;
    if (!grow_threads(tracks))
        return TRACK_NONE;
    tracks->threads[tracks->thread_count] =
        (struct timeline_thread){.process = process, .source = source, .number = number};
    *slot_of(tracks, process, source, number) = ++tracks->thread_count;
    return tracks->last_thread = tracks->thread_count - 1;
}

bool timeline_thread_rename(struct timeline_tracks *tracks, uint32_t thread, const char *name)
{
    return replace(&tracks->threads[thread].name, name);
}

int64_t timeline_process_number(struct timeline_tracks *tracks, uint32_t process)
{
    struct timeline_process *known = tracks->processes + process;
    size_t range = 0;
    if (known->pid != 0)
        return known->pid;
    while (!text_begins_with(known->name, ranges[range].prefix))
        range++;
    known->pid = ranges[range].first + tracks->used_in_range[range]++;
    return known->pid;
}

/* Makes space for another tid. Returns false without memory. */
static bool has_space_for_tid(struct timeline_tracks *tracks)
{
    if (tracks->taken_count * 2 < tracks->taken_capacity)
        return true;
    uint32_t capacity = tracks->taken_capacity ? tracks->taken_capacity * 2 : 64;
    uint64_t *taken = calloc(capacity, sizeof *taken);
    if (!taken)
        return false;
    for (uint32_t i = 0; i < tracks->taken_capacity; i++) {
        uint64_t slot = tracks->taken[i] >> 1;
        while (tracks->taken[i] != 0 && taken[slot & (capacity - 1)] != 0)
            slot++;
        if (tracks->taken[i] != 0)
            taken[slot & (capacity - 1)] = tracks->taken[i];
    }
    free(tracks->taken);
    tracks->taken = taken;
    tracks->taken_capacity = capacity;
    return true;
}

/* Marks a (pid, tid) of the output as used. Returns false if it already was. There must be space
 * for one more. */
static bool claim_tid(struct timeline_tracks *tracks, uint32_t process, int64_t tid)
{
    uint64_t hash = hash_of(process, 0, tid) | 1;
    uint64_t slot = hash >> 1, mask = tracks->taken_capacity - 1;
    for (; tracks->taken[slot & mask] != 0; slot++)
        if (tracks->taken[slot & mask] == hash)
            return false;
    tracks->taken[slot & mask] = hash;
    tracks->taken_count++;
    return true;
}

/* Returns a tid of at most 31 bits: the thread's own if it is free, else one derived from it. */
static int64_t find_tid(
    struct timeline_tracks *tracks, const struct timeline_thread *thread, uint32_t lane)
{
    int64_t own = thread->number;
    if (lane == 0 && own >= 0 && own <= INT32_MAX && claim_tid(tracks, thread->process, own))
        return own;
    for (uint32_t attempt = 0; attempt < 1000; attempt++) {
        uint64_t hash = hash_of(lane + attempt * MAX_LANES, thread->source, own);
        int64_t tid = (int64_t)(hash & INT32_MAX);
        if (claim_tid(tracks, thread->process, tid))
            return tid;
    }
    return INT32_MAX;
}

/* Adds a lane to a thread, for slices that overlap others. */
static struct timeline_lane *add_lane(
    struct timeline_tracks *tracks, struct timeline_thread *thread)
{
    if (!ARRAY_EXTEND(thread->lanes, thread->lane_count) || !has_space_for_tid(tracks))
        return NULL;
    struct timeline_lane *lane = thread->lanes + thread->lane_count;
    *lane = (struct timeline_lane){.tid = find_tid(tracks, thread, thread->lane_count)};
    thread->lane_count++;
    return lane;
}

struct timeline_lane *timeline_first_lane(struct timeline_tracks *tracks, uint32_t thread)
{
    struct timeline_thread *known = tracks->threads + thread;
    return known->lane_count > 0 ? known->lanes : add_lane(tracks, known);
}

/* Opens a slice on a lane. Returns false without memory. */
static bool push_end(struct timeline_lane *lane, int64_t end_ns)
{
    if (!ARRAY_RESERVE(lane->ends_ns, lane->open, lane->capacity))
        return false;
    lane->ends_ns[lane->open++] = end_ns;
    return true;
}

struct timeline_lane *timeline_lane(
    struct timeline_tracks *tracks, uint32_t thread, int64_t start_ns, int64_t end_ns)
{
    struct timeline_thread *known = tracks->threads + thread;
    for (uint32_t i = 0; i < MAX_LANES; i++) {
        struct timeline_lane *lane =
            i < known->lane_count ? known->lanes + i : add_lane(tracks, known);
        if (!lane)
            return NULL;
        while (lane->open > 0 && lane->ends_ns[lane->open - 1] <= start_ns)
            lane->open--;
        if (lane->open == 0 || lane->ends_ns[lane->open - 1] >= end_ns || i == MAX_LANES - 1)
            return push_end(lane, end_ns) ? lane : NULL;
    }
    return NULL;
}

void timeline_tracks_finish(struct timeline_tracks *tracks)
{
    for (uint32_t i = 0; i < tracks->process_count; i++) {
        free(tracks->processes[i].name);
        free(tracks->processes[i].labels);
    }
    for (uint32_t i = 0; i < tracks->trace_count; i++)
        free(tracks->traces[i].name);
    for (uint32_t i = 0; i < tracks->thread_count; i++) {
        for (uint32_t lane = 0; lane < tracks->threads[i].lane_count; lane++)
            free(tracks->threads[i].lanes[lane].ends_ns);
        free(tracks->threads[i].lanes);
        free(tracks->threads[i].name);
    }
    names_finish(&tracks->keys);
    names_finish(&tracks->trace_keys);
    free(tracks->traces);
    free(tracks->processes);
    free(tracks->threads);
    free(tracks->slots);
    free(tracks->taken);
    *tracks = (struct timeline_tracks){0};
}
