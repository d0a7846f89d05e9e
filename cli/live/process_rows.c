#include "process_rows.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AVERAGED_SECONDS 3
#define NO_PARENT UINT32_MAX
#define KERNEL_THREADS 2 /* the pid of their parent, kthreadd */

/* A process while rows are arranged; the figures are those of its subtree. */
struct process_node {
    const struct gput_snapshot_process *process;
    struct process_note *note;
    uint32_t parent;        /* index; NO_PARENT: it is not in the snapshot */
    uint32_t open_children; /* not added up yet */
    uint32_t first_child;   /* in `order`, with n_children */
    uint32_t n_children, n_below;
    bool is_shown, is_added;
    struct activity activity;
    double cpu_average, private_ram, most_shared_ram, gpu_ram, cpu_seconds, key;
    uint32_t threads;
};

const char *process_sort_name(enum process_sort sort)
{
    static const char *const names[] = {"CPU", "RAM", "GPU RAM", "CPU time", "PID", "name"};
    return names[sort];
}

/* ---- notes ---- */

static int compare_ids(const struct process_id *a, const struct process_id *b)
{
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->start_ticks > b->start_ticks) - (a->start_ticks < b->start_ticks);
}

static int compare_notes(const void *a, const void *b)
{
    return compare_ids(
        &((const struct process_note *)a)->id, &((const struct process_note *)b)->id);
}

static void free_notes(struct process_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(notes[i].command);
        free(notes[i].earlier);
    }
    free(notes);
}

void process_rows_finish(struct process_rows *rows)
{
    free_notes(rows->notes, rows->n_notes);
    free(rows->rows);
    free(rows->nodes);
    free(rows->order);
    *rows = (struct process_rows){0};
}

static struct process_note *find_note(const struct process_rows *rows, pid_t pid, uint64_t start)
{
    struct process_note wanted = {.id = {pid, start}};
    return rows->n_notes == 0
               ? NULL
               : bsearch(&wanted, rows->notes, rows->n_notes, sizeof wanted, compare_notes);
}

static bool is_parent_of_kernel_threads(const struct gput_snapshot_process *process)
{
    return process->pid == KERNEL_THREADS && process->parent == 0 &&
           strcmp(process->name, "kthreadd") == 0;
}

/* The mean of the last seconds, of a rate that was `mean` before. */
static double averaged(double mean, double rate, double share)
{
    return isnan(mean) ? rate : mean + (rate - mean) * share;
}

/* What was known moves to the new note; a program that called execve() has another command. Scripts
 * that start each other can have one name: the command is read until it is twice the same. */
static void take_note(struct process_rows *rows, const struct gput_snapshot_process *process,
    double seconds, struct process_note *note)
{
    struct process_note *before = find_note(rows, process->pid, process->start_ticks);
    double cpu = isnan(process->cpu_percent) ? 0 : process->cpu_percent;
    *note = (struct process_note){.id = {process->pid, process->start_ticks}, .cpu_average = cpu};
    note->seconds = (struct activity){
        process->computing_seconds, process->cpu_wait_seconds, process->storage_seconds};
    note->activity = (struct activity){NAN, NAN, NAN};
    memcpy(note->name, process->name, sizeof note->name);
    note->is_folded = is_parent_of_kernel_threads(process);
    if (!before)
        return;
    double share = isnan(seconds) ? 1 : 1 - exp(-seconds / AVERAGED_SECONDS);
    note->cpu_average = before->cpu_average + (cpu - before->cpu_average) * share;
    if (seconds > 0) {
        const struct activity *was = &before->seconds, *is = &note->seconds,
                              *mean = &before->activity;
        note->activity = (struct activity){
            averaged(mean->computing, (is->computing - was->computing) / seconds, share),
            averaged(mean->cpu_wait, (is->cpu_wait - was->cpu_wait) / seconds, share),
            averaged(mean->storage, (is->storage - was->storage) / seconds, share)};
    }
    note->is_folded = before->is_folded;
    if (strcmp(note->name, before->name) != 0)
        return;
    *(before->is_confirmed ? &note->command : &note->earlier) = before->command;
    note->is_confirmed = before->is_confirmed;
    before->command = NULL;
}

/* Makes space for rows, nodes and their order. */
static bool reserve(struct process_rows *rows, size_t count)
{
    if (count <= rows->capacity && rows->rows)
        return true;
    size_t capacity = count * 2 + 16;
    struct process_row *list = realloc(rows->rows, capacity * sizeof *list);
    rows->rows = list ? list : rows->rows;
    struct process_node *nodes = realloc(rows->nodes, capacity * sizeof *nodes);
    rows->nodes = nodes ? nodes : rows->nodes;
    /* Children, roots, and the stack of what is still to be listed. */
    uint32_t *order = realloc(rows->order, 2 * capacity * sizeof *order);
    rows->order = order ? order : rows->order;
    if (!list || !nodes || !order)
        return false;
    rows->capacity = capacity;
    return true;
}

bool process_rows_take(
    struct process_rows *rows, const struct gput_snapshot *snapshot, double seconds)
{
    size_t count = gput_snapshot_process_count(snapshot);
    struct process_note *notes = calloc(count + 1, sizeof *notes);
    rows->snapshot = NULL;
    rows->count = rows->total = 0;
    if (!notes || !reserve(rows, count)) {
        free(notes);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        take_note(rows, gput_snapshot_process(snapshot, i), seconds, &notes[i]);
    qsort(notes, count, sizeof *notes, compare_notes);
    free_notes(rows->notes, rows->n_notes);
    rows->notes = notes;
    rows->n_notes = rows->total = count;
    rows->snapshot = snapshot;
    process_rows_arrange(rows);
    return true;
}

/* Returns the command line of a process, which is read when it is needed; else its name. */
static const char *command_of(struct process_rows *rows,
    const struct gput_snapshot_process *process, struct process_note *note)
{
    if (!note->command && rows->read_command) {
        note->command = rows->read_command(rows->user, process);
        note->is_confirmed =
            note->command && note->earlier && strcmp(note->command, note->earlier) == 0;
    }
    return note->command ? note->command : process->name;
}

const char *process_rows_command(struct process_rows *rows, const struct process_row *row)
{
    return command_of(rows, row->process, row->note);
}

/* ---- filter ---- */

/* In ASCII, letters match in both cases. */
static bool contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t i = 0;
        while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
            i++;
        if (i == length)
            return true;
    }
    return length == 0;
}

/* Returns whether the filter is in the pid, name or command line of a process. */
static bool passes(struct process_rows *rows, const struct process_node *node)
{
    char pid[16];
    if (!rows->filter[0])
        return true;
    snprintf(pid, sizeof pid, "%d", (int)node->process->pid);
    return contains(pid, rows->filter) || contains(node->process->name, rows->filter) ||
           contains(command_of(rows, node->process, node->note), rows->filter);
}

/* ---- nodes ---- */

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

/* Makes the node of a process, with figures of its own alone. */
static void fill_node(struct process_rows *rows, const struct gput_snapshot_process *process,
    struct process_node *node)
{
    *node = (struct process_node){.process = process,
        .note = find_note(rows, process->pid, process->start_ticks),
        .parent = NO_PARENT,
        .private_ram = known(process->private_ram_bytes),
        .most_shared_ram = known(process->ram_bytes) - known(process->private_ram_bytes),
        .gpu_ram = process->gpu_ram_bytes,
        .cpu_seconds = process->cpu_seconds,
        .threads = process->threads};
    node->cpu_average = node->note->cpu_average;
    node->activity = node->note->activity;
    node->is_shown = passes(rows, node);
}

static int compare_pids(const void *a, const void *b)
{
    const struct process_node *left = a, *right = b;
    return compare_ids(&left->note->id, &right->note->id);
}

/* Adds activity to a sum. A figure that is not known of one process is known by the others. */
static void add_activity(struct activity *sum, const struct activity *more)
{
    if (isnan(more->computing))
        return;
    sum->computing = known(sum->computing) + more->computing;
    sum->cpu_wait = known(sum->cpu_wait) + more->cpu_wait;
    sum->storage = known(sum->storage) + more->storage;
}

/* Adds subtrees up, children first. Parents are read one after the other, so that in the worst case
 * they form a circle: its members have no parent here. */
static void add_up(struct process_rows *rows)
{
    size_t waiting = 0;
    for (uint32_t i = 0; i < rows->total; i++)
        if (rows->nodes[i].open_children == 0)
            rows->order[waiting++] = i;
    while (waiting > 0) {
        struct process_node *node = &rows->nodes[rows->order[--waiting]];
        node->is_added = true;
        if (node->parent == NO_PARENT)
            continue;
        struct process_node *parent = &rows->nodes[node->parent];
        parent->n_below += 1 + node->n_below;
        parent->is_shown |= node->is_shown;
        parent->cpu_average += node->cpu_average;
        parent->cpu_seconds += node->cpu_seconds;
        parent->private_ram += node->private_ram;
        parent->most_shared_ram = fmax(parent->most_shared_ram, node->most_shared_ram);
        parent->threads += node->threads;
        add_activity(&parent->activity, &node->activity);
        if (!isnan(node->gpu_ram))
            parent->gpu_ram = known(parent->gpu_ram) + node->gpu_ram;
        if (--parent->open_children == 0)
            rows->order[waiting++] = node->parent;
    }
    for (uint32_t i = 0; i < rows->total; i++)
        if (!rows->nodes[i].is_added)
            rows->nodes[i].parent = NO_PARENT;
}

/* They are one row of a flat table, too, until it is unfolded or there is a filter. */
static bool are_kernel_threads_folded(const struct process_rows *rows)
{
    for (size_t i = 0; i < rows->total && !rows->filter[0]; i++) {
        if (is_parent_of_kernel_threads(rows->nodes[i].process))
            return rows->nodes[i].note->is_folded;
    }
    return false;
}

/* Makes the tree of nodes, and adds up what is below each. */
static void make_nodes(struct process_rows *rows)
{
    for (size_t i = 0; i < rows->total; i++)
        fill_node(rows, gput_snapshot_process(rows->snapshot, i), &rows->nodes[i]);
    qsort(rows->nodes, rows->total, sizeof *rows->nodes, compare_pids);
    bool has_folded = are_kernel_threads_folded(rows);
    for (uint32_t i = 0; i < rows->total; i++) {
        struct process_node *node = &rows->nodes[i];
        if (rows->is_tree || (has_folded && node->process->parent == KERNEL_THREADS)) {
            /* Find the parent: nodes are in the order of pids. */
            size_t low = 0, high = rows->total;
            pid_t wanted = node->process->parent;
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (rows->nodes[middle].process->pid < wanted)
                    low = middle + 1;
                else
                    high = middle;
            }
            bool is_there = low < rows->total && rows->nodes[low].process->pid == wanted;
            node->parent = is_there && &rows->nodes[low] != node ? (uint32_t)low : NO_PARENT;
        }
        if (node->parent != NO_PARENT)
            rows->nodes[node->parent].open_children++;
    }
    add_up(rows);
}

/* ---- order ---- */

/* Returns the number that nodes are sorted by, the highest first. */
static double key_of(const struct process_node *node, enum process_sort sort)
{
    switch (sort) {
    case SORT_CPU:
        /* As it is shown: what looks the same keeps its place. */
        return round(node->cpu_average * 10);
    case SORT_RAM:
        return node->private_ram + node->most_shared_ram;
    case SORT_GPU_RAM:
        return known(node->gpu_ram);
    case SORT_TIME:
        return node->cpu_seconds;
    case SORT_PID:
        return -(double)node->process->pid;
    default:
        return 0;
    }
}

/* Orders rows by parent, and the children of a parent from the highest. */
static int compare_nodes(const void *a, const void *b, void *user)
{
    const struct process_rows *rows = user;
    const struct process_node *left = &rows->nodes[*(const uint32_t *)a],
                              *right = &rows->nodes[*(const uint32_t *)b];
    if (left->parent != right->parent)
        return left->parent < right->parent ? -1 : 1;
    if (left->key != right->key)
        return left->key > right->key ? -1 : 1;
    int by_name = rows->sort == SORT_NAME ? strcmp(left->process->name, right->process->name) : 0;
    return by_name ? by_name : compare_ids(&left->note->id, &right->note->id);
}

/* Returns where in `order` those begin that have no parent. */
static uint32_t sort_nodes(struct process_rows *rows)
{
    uint32_t first_root = (uint32_t)rows->total;
    for (uint32_t i = 0; i < rows->total; i++) {
        rows->order[i] = i;
        rows->nodes[i].key = key_of(&rows->nodes[i], rows->sort);
        rows->nodes[i].n_children = 0;
    }
    qsort_r(rows->order, rows->total, sizeof *rows->order, compare_nodes, rows);
    for (uint32_t i = (uint32_t)rows->total; i-- > 0;) {
        uint32_t parent = rows->nodes[rows->order[i]].parent;
        if (parent == NO_PARENT) {
            first_root = i;
        } else {
            rows->nodes[parent].first_child = i;
            rows->nodes[parent].n_children++;
        }
    }
    return first_root;
}

/* ---- rows ---- */

/* Makes the row of a node. A folded one has the sums of all below it. */
static void fill_row(const struct process_node *node, bool is_folded, struct process_row *row)
{
    const struct gput_snapshot_process *process = node->process;
    *row = (struct process_row){.process = process,
        .note = node->note,
        .cpu_percent = isnan(process->cpu_percent) ? NAN : node->note->cpu_average,
        .ram_bytes = process->ram_bytes,
        .gpu_ram_bytes = process->gpu_ram_bytes,
        .cpu_seconds = process->cpu_seconds,
        .activity = node->note->activity,
        .threads = process->threads,
        .has_children = node->n_children > 0};
    if (!is_folded || node->n_children == 0)
        return;
    row->folded = node->n_below;
    row->activity = node->activity;
    row->cpu_percent = node->cpu_average;
    row->ram_bytes = node->private_ram + node->most_shared_ram;
    row->ram_is_least = node->most_shared_ram > 0;
    row->gpu_ram_bytes = node->gpu_ram;
    row->cpu_seconds = node->cpu_seconds;
    row->threads = node->threads;
}

static uint32_t last_shown(const struct process_rows *rows, uint32_t first, uint32_t count)
{
    while (count > 0 && !rows->nodes[rows->order[first + count - 1]].is_shown)
        count--;
    return first + count - 1;
}

/* Depth first, by a stack of positions in `order`: one for each level, and there are never more
 * levels than processes. */
static void list_tree(struct process_rows *rows, uint32_t first_root)
{
    uint32_t *stack = rows->order + rows->capacity, depth = 0;
    uint64_t open = 0;
    stack[0] = first_root;
    for (;;) {
        uint32_t at = stack[depth];
        uint32_t parent_first = first_root, n = (uint32_t)rows->total - first_root;
        if (depth > 0) {
            const struct process_node *parent = &rows->nodes[rows->order[stack[depth - 1]]];
            parent_first = parent->first_child;
            n = parent->n_children;
        }
        if (at >= parent_first + n) {
            if (depth == 0)
                return;
            stack[--depth]++;
            continue;
        }
        const struct process_node *node = &rows->nodes[rows->order[at]];
        if (!node->is_shown) {
            stack[depth]++;
            continue;
        }
        bool is_last = at == last_shown(rows, parent_first, n);
        bool is_folded = node->note->is_folded && !rows->filter[0];
        if (depth < 64)
            open = is_last ? open & ~(UINT64_C(1) << depth) : open | UINT64_C(1) << depth;
        struct process_row *row = &rows->rows[rows->count++];
        fill_row(node, is_folded, row);
        row->depth = depth;
        row->is_last = is_last;
        row->open_levels = open;
        if (node->n_children > 0 && !is_folded)
            stack[++depth] = node->first_child;
        else
            stack[depth]++;
    }
}

static void list_flat(struct process_rows *rows, uint32_t first_root)
{
    for (size_t i = first_root; i < rows->total; i++) {
        const struct process_node *node = &rows->nodes[rows->order[i]];
        if (node->is_shown)
            fill_row(node, node->note->is_folded, &rows->rows[rows->count++]);
    }
}

/* The selection follows its process; when that is gone, it stays where it is. */
static void find_selection(struct process_rows *rows)
{
    if (!rows->selection.pid || rows->count == 0)
        return;
    for (size_t i = 0; i < rows->count; i++) {
        if (compare_ids(&rows->rows[i].note->id, &rows->selection) == 0) {
            rows->selected = i;
            return;
        }
    }
    if (rows->selected >= rows->count)
        rows->selected = rows->count - 1;
    rows->selection = rows->rows[rows->selected].note->id;
}

void process_rows_arrange(struct process_rows *rows)
{
    rows->count = 0;
    if (!rows->snapshot)
        return;
    make_nodes(rows);
    uint32_t first_root = sort_nodes(rows);
    if (rows->is_tree)
        list_tree(rows, first_root);
    else
        list_flat(rows, first_root);
    find_selection(rows);
}

const char *process_row_doing(const struct process_row *row)
{
    static const struct {
        char state;
        const char *word;
    } states[] = {{'R', "running"}, {'D', "storage"}, {'T', "stopped"}, {'t', "stopped"},
        {'Z', "ended"}, {'X', "ended"}, {'I', "idle"}};
    static const char *const words[][2] = {
        {"computing", "running"}, {"cpu_wait", "CPU wait"}, {"gpu", "GPU"}, {"other", "asleep"}};
    char state = row->process->state;
    /* What it waits for is known of one that is awake or sleeps. */
    const char *activity = state == 'R' || state == 'S' ? row->process->activity : NULL;
    const char *word = activity ? activity : "asleep";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(word, words[i][0]) == 0)
            word = words[i][1];
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(word, "asleep") == 0 && states[i].state == state)
            word = states[i].word;
    bool waits = row->activity.cpu_wait > row->activity.computing;
    return waits && strcmp(word, "running") == 0 ? "CPU wait" : word;
}

struct activity process_rows_activity(const struct process_rows *rows)
{
    struct activity sum = {NAN, NAN, NAN};
    for (size_t i = 0; i < rows->n_notes; i++)
        add_activity(&sum, &rows->notes[i].activity);
    return sum;
}

const struct process_row *process_rows_selected(const struct process_rows *rows)
{
    bool is_one = rows->selection.pid && rows->selected < rows->count;
    return is_one ? &rows->rows[rows->selected] : NULL;
}

void process_rows_move(struct process_rows *rows, long by)
{
    if (rows->count == 0)
        return;
    long index = rows->selection.pid ? (long)rows->selected + by : 0;
    long last = (long)rows->count - 1;
    rows->selected = (size_t)(index < 0 ? 0 : index > last ? last : index);
    rows->selection = rows->rows[rows->selected].note->id;
}

void process_rows_toggle_fold(struct process_rows *rows)
{
    const struct process_row *row = process_rows_selected(rows);
    if (!row || !(row->has_children || is_parent_of_kernel_threads(row->process)))
        return;
    row->note->is_folded = !row->note->is_folded;
    process_rows_arrange(rows);
}
