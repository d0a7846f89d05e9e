#include "output/processes_report.h"

#include "model/process_columns.h"
#include "output/human.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- a document ---- */

static void add_column(struct doc *object, const struct gput_processes *list,
    const struct column *column, const void *item)
{
    if (strcmp(column->name, "command_line") == 0 && !list->has_command_lines)
        return;
    enum gput_quantity quantity;
    const char *in_unit = process_column_in_unit(column, &quantity);
    if (!in_unit) {
        columns_add_to_doc(column, 1, item, object);
        return;
    }
    enum gput_ram_unit unit = quantity == GPUT_QUANTITY_RAM ? list->ram_unit : list->gpu_ram_unit;
    doc_add_double(object, in_unit, column_number(column, item) * gput_ram_unit_factor(unit));
}

void processes_report_add(struct doc *report, const struct gput_processes *processes)
{
    struct doc *array = doc_add_array(report, "processes");
    for (size_t i = 0; i < processes->count; i++) {
        struct doc *object = doc_add_object(array, NULL);
        for (size_t column = 0; column < PROCESS_COLUMNS; column++)
            add_column(object, processes, &process_columns[column], &processes->processes[i]);
    }
    struct doc *others = doc_add_object(report, "other_processes");
    for (size_t column = 0; column < OTHER_PROCESS_COLUMNS; column++)
        add_column(others, processes, &other_process_columns[column], processes);
}

/* ---- a tree ---- */

/* Deeper trees are cut to this many branches a line. */
#define MAX_DEPTH 64

/* More rows than this hide what a summary says before them. */
#define MAX_SUMMARY_ROWS 20

struct node {
    ptrdiff_t first_child, next_sibling; /* of those shown; -1: none */
    bool is_shown;                       /* then its parent is, too */
};

struct tree {
    const struct gput_processes *list;
    struct node *nodes; /* one for each process */
    struct str *text;
    bool is_summary;  /* each figure has a unit that fits, and not all rows are there */
    bool has_gpu_ram; /* of some process that is shown it is known */
    bool has_bounds;  /* some figure is a lower bound */
};

enum figure { FIGURE_SECONDS, FIGURE_RAM, FIGURE_GPU_RAM, FIGURE_BYTES };

/* "12 min 30 s" is the longest of the times in a summary. */
static int column_width(const struct tree *tree, enum figure figure)
{
    return !tree->is_summary ? 12 : figure == FIGURE_SECONDS ? 13 : 10;
}

/* A value in seconds or bytes. */
static void format_figure(
    const struct tree *tree, enum figure figure, double value, char *text, size_t size)
{
    char human[HUMAN_SIZE];
    if (isnan(value))
        snprintf(text, size, "n/a");
    else if (tree->is_summary)
        snprintf(text, size, "%s",
            figure == FIGURE_SECONDS ? human_seconds(value, human) : human_bytes(value, human));
    else if (figure == FIGURE_RAM)
        snprintf(text, size, "%.3f", value * gput_ram_unit_factor(tree->list->ram_unit));
    else if (figure == FIGURE_GPU_RAM)
        snprintf(text, size, "%.3f", value * gput_ram_unit_factor(tree->list->gpu_ram_unit));
    else
        snprintf(text, size, "%.*f", figure == FIGURE_SECONDS ? 3 : 0, value);
}

static void write_bound(const struct tree *tree, enum figure figure, bool is_at_least, double value)
{
    char number[400];
    format_figure(tree, figure, value, number, sizeof number);
    const char *mark = is_at_least && !isnan(value) ? "≥" : "";
    int width = column_width(tree, figure) - (int)strlen(number) - (*mark ? 1 : 0);
    str_printf(tree->text, "%*s%s%s", width > 0 ? width : 0, "", mark, number);
}

static void write_figure(const struct tree *tree, enum figure figure, double value)
{
    write_bound(tree, figure, false, value);
}

static void write_status(struct str *text, const struct gput_process *process)
{
    char word[24];
    if (process->has_status && WIFSIGNALED(process->status))
        snprintf(word, sizeof word, "signal %d", WTERMSIG(process->status));
    else if (process->has_status)
        snprintf(word, sizeof word, "%d", WEXITSTATUS(process->status));
    else
        snprintf(word, sizeof word, "%s", process->end_ns ? "n/a" : "running");
    str_printf(text, "%11s", word);
}

/* A name may hold bytes that would upset a terminal. */
static void write_name(struct str *text, const char *name)
{
    for (; *name; name++)
        str_append_char(text, (unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

static void write_line(
    const struct tree *tree, const struct gput_process *process, const char *branches)
{
    const struct gput_processes *list = tree->list;
    struct str *text = tree->text;
    bool has_ended = gput_process_at_least(process) != NULL;
    bool is_seen = has_ended && !process->is_final;
    write_figure(tree, FIGURE_SECONDS, (double)(process->start_ns - list->start_ns) * 1e-9);
    write_bound(tree, FIGURE_SECONDS, !process->end_is_exact,
        process->end_ns ? (double)(process->end_ns - process->start_ns) * 1e-9 : NAN);
    write_bound(tree, FIGURE_SECONDS, has_ended, process->cpu_seconds);
    write_bound(tree, FIGURE_RAM, has_ended && process->peak != GPUT_PROCESS_PEAK_FINAL,
        process->peak_ram_bytes);
    if (tree->has_gpu_ram)
        write_bound(tree, FIGURE_GPU_RAM, is_seen, process->peak_gpu_ram_bytes);
    write_bound(tree, FIGURE_BYTES, has_ended, process->read_bytes);
    write_bound(tree, FIGURE_BYTES, has_ended, process->write_bytes);
    write_status(text, process);
    str_printf(text, "  %s", branches);
    write_name(text, process->name[0] ? process->name : "?");
    str_printf(text, "(%d)", (int)process->pid);
    if (process->command_line) {
        str_append(text, "  ");
        write_name(text, process->command_line);
    }
    str_append_char(text, '\n');
}

/* Depth first, without recursion: a chain of thousands must not use up the stack. */
static void write_below(const struct tree *tree, ptrdiff_t top, ptrdiff_t *parents)
{
    ptrdiff_t at = top;
    struct str branches = {0};
    while (at >= 0) {
        str_clear(&branches);
        size_t depth = 0;
        for (ptrdiff_t i = at; i != top && depth < MAX_DEPTH;
             i = tree->list->processes[i].parent_index)
            parents[depth++] = i;
        while (depth-- > 1)
            str_append(&branches, tree->nodes[parents[depth]].next_sibling >= 0 ? "│  " : "   ");
        if (at != top)
            str_append(&branches, tree->nodes[at].next_sibling >= 0 ? "├─ " : "└─ ");
        write_line(tree, &tree->list->processes[at], str_text(&branches));

        ptrdiff_t next = tree->nodes[at].first_child;
        while (next < 0 && at != top) {
            next = tree->nodes[at].next_sibling;
            at = tree->list->processes[at].parent_index;
        }
        at = next;
    }
    tree->text->failed |= branches.failed;
    str_finish(&branches);
}

static void link_shown(const struct tree *tree)
{
    const struct gput_processes *list = tree->list;
    for (size_t i = 0; i < list->count; i++)
        tree->nodes[i].first_child = tree->nodes[i].next_sibling = -1;
    for (size_t i = list->count; i-- > 0;) {
        ptrdiff_t parent = list->processes[i].parent_index;
        if (parent < 0 || !tree->nodes[i].is_shown)
            continue;
        tree->nodes[i].next_sibling = tree->nodes[parent].first_child;
        tree->nodes[parent].first_child = (ptrdiff_t)i;
    }
}

static void write_trees(const struct tree *tree)
{
    ptrdiff_t parents[MAX_DEPTH];
    link_shown(tree);
    for (size_t i = 0; i < tree->list->count; i++) {
        if (tree->list->processes[i].parent_index < 0 && tree->nodes[i].is_shown)
            write_below(tree, (ptrdiff_t)i, parents);
    }
}

static void write_others(const struct tree *tree)
{
    const struct gput_processes *list = tree->list;
    str_printf(tree->text, "%*s", 2 * column_width(tree, FIGURE_SECONDS), "");
    write_bound(tree, FIGURE_SECONDS, true, list->others.cpu_seconds);
    write_figure(tree, FIGURE_RAM, list->others.peak_ram_bytes);
    if (tree->has_gpu_ram)
        write_figure(tree, FIGURE_GPU_RAM, list->others.peak_gpu_ram_bytes);
    write_figure(tree, FIGURE_BYTES, list->others.read_bytes);
    write_figure(tree, FIGURE_BYTES, list->others.write_bytes);
    str_printf(tree->text, "%11s  %llu others (peaks: of the largest)\n", "",
        (unsigned long long)list->others.count);
}

static void write_column_head(
    const struct tree *tree, enum figure figure, const char *head, const char *summary_head)
{
    str_printf(
        tree->text, "%*s", column_width(tree, figure), tree->is_summary ? summary_head : head);
}

/* "Processes (RAM in gigabytes):", and the heads of the columns. */
static void write_head(const struct tree *tree)
{
    const struct gput_processes *list = tree->list;
    str_append(tree->text, "Processes");
    if (!tree->is_summary) {
        str_printf(tree->text, " (RAM in %s", gput_ram_unit_name(list->ram_unit));
        if (tree->has_gpu_ram)
            str_printf(tree->text, ", GPU RAM in %s", gput_ram_unit_name(list->gpu_ram_unit));
        str_append_char(tree->text, ')');
    }
    str_append(tree->text, ":\n");
    write_column_head(tree, FIGURE_SECONDS, "Start s", "Start");
    write_column_head(tree, FIGURE_SECONDS, "Lived s", "Lived");
    write_column_head(tree, FIGURE_SECONDS, "CPU s", "CPU");
    write_column_head(tree, FIGURE_RAM, "Peak RAM", "Peak RAM");
    if (tree->has_gpu_ram)
        write_column_head(tree, FIGURE_GPU_RAM, "GPU RAM", "GPU RAM");
    write_column_head(tree, FIGURE_BYTES, "Read bytes", "Read");
    write_column_head(tree, FIGURE_BYTES, "Written", "Written");
    str_printf(tree->text, "%11s  %s\n", "Exit", "Process");
}

/* Of those not yet shown, that with the most CPU time, or RAM. -1: all are shown. */
static ptrdiff_t find_largest(const struct tree *tree, bool by_ram)
{
    ptrdiff_t largest = -1;
    double most = 0;
    for (size_t i = 0; i < tree->list->count; i++) {
        const struct gput_process *process = &tree->list->processes[i];
        double value = by_ram ? process->peak_ram_bytes : process->cpu_seconds;
        if (isnan(value))
            value = 0;
        if (tree->nodes[i].is_shown || (largest >= 0 && value <= most))
            continue;
        largest = (ptrdiff_t)i;
        most = value;
    }
    return largest;
}

/* Shows a process and those above it, or of them the topmost that `max_rows` hold. Returns the
 * rows that it took. */
static size_t show(const struct tree *tree, ptrdiff_t process, size_t max_rows)
{
    size_t rows = 0, hidden = 0;
    const struct gput_process *processes = tree->list->processes;
    for (ptrdiff_t i = process; i >= 0 && !tree->nodes[i].is_shown; i = processes[i].parent_index)
        hidden++;
    for (ptrdiff_t i = process; hidden > 0; i = processes[i].parent_index) {
        if (hidden-- > max_rows)
            continue;
        tree->nodes[i].is_shown = true;
        rows++;
    }
    return rows;
}

/* All, or for a summary the largest by CPU time and RAM in turn. Returns how many are shown. */
static size_t choose_shown(const struct tree *tree)
{
    size_t shown = 0, count = tree->list->count;
    if (!tree->is_summary || count <= MAX_SUMMARY_ROWS) {
        for (size_t i = 0; i < count; i++)
            tree->nodes[i].is_shown = true;
        return count;
    }
    for (bool by_ram = false; shown < MAX_SUMMARY_ROWS; by_ram = !by_ram)
        shown += show(tree, find_largest(tree, by_ram), MAX_SUMMARY_ROWS - shown);
    return shown;
}

static void write_tree(struct tree *tree)
{
    const struct gput_processes *list = tree->list;
    size_t shown = choose_shown(tree);
    for (size_t i = 0; i < list->count; i++) {
        if (!tree->nodes[i].is_shown)
            continue;
        tree->has_gpu_ram |= !isnan(list->processes[i].peak_gpu_ram_bytes);
        tree->has_bounds |= gput_process_at_least(&list->processes[i]) != NULL;
    }
    write_head(tree);
    write_trees(tree);
    if (shown < list->count)
        str_printf(tree->text, "and %zu more: -f full, or -f json\n", list->count - shown);
    if (list->others.count > 0)
        write_others(tree);
    if (tree->has_bounds)
        str_append(tree->text,
            "≥: at least this; the rest was used after the last sample of it, after the\n"
            "   last scheduler tick before its end, or is less than a kilobyte a thread\n");
}

static void write_processes(
    const struct gput_processes *processes, bool is_summary, struct str *text)
{
    struct node *nodes = calloc(processes->count + 1, sizeof *nodes);
    struct tree tree = {.list = processes, .nodes = nodes, .text = text, .is_summary = is_summary};
    text->failed |= !nodes;
    if (nodes)
        write_tree(&tree);
    free(nodes);
}

void processes_report_write_tree(const struct gput_processes *processes, struct str *text)
{
    write_processes(processes, false, text);
}

void processes_report_write_summary(const struct gput_processes *processes, struct str *text)
{
    write_processes(processes, true, text);
}
