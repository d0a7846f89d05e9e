#include "output/processes_report.h"

#include "model/process_columns.h"

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

struct tree {
    const struct gput_processes *list;
    const ptrdiff_t *first_child, *next_sibling; /* -1: none */
    struct str *text;
    bool has_gpu_ram; /* of some process it is known */
    bool has_bounds;  /* some figure is a lower bound */
};

static void write_figure(struct str *text, double value, int decimals)
{
    if (isnan(value))
        str_printf(text, "%12s", "n/a");
    else
        str_printf(text, "%12.*f", decimals, value);
}

/* The mark is three bytes and one column wide. */
static void write_bound(struct str *text, bool is_at_least, double value, int decimals)
{
    char figure[400];
    if (isnan(value) || !is_at_least) {
        write_figure(text, value, decimals);
        return;
    }
    snprintf(figure, sizeof figure, "≥%.*f", decimals, value);
    str_printf(text, "%14s", figure);
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
    write_figure(text, (double)(process->start_ns - list->start_ns) * 1e-9, 3);
    write_bound(text, !process->end_is_exact,
        process->end_ns ? (double)(process->end_ns - process->start_ns) * 1e-9 : NAN, 3);
    write_bound(text, has_ended, process->cpu_seconds, 3);
    write_bound(text, has_ended && process->peak != GPUT_PROCESS_PEAK_FINAL,
        process->peak_ram_bytes * gput_ram_unit_factor(list->ram_unit), 3);
    if (tree->has_gpu_ram)
        write_bound(text, is_seen,
            process->peak_gpu_ram_bytes * gput_ram_unit_factor(list->gpu_ram_unit), 3);
    write_bound(text, has_ended, process->read_bytes, 0);
    write_bound(text, has_ended, process->write_bytes, 0);
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
            str_append(&branches, tree->next_sibling[parents[depth]] >= 0 ? "│  " : "   ");
        if (at != top)
            str_append(&branches, tree->next_sibling[at] >= 0 ? "├─ " : "└─ ");
        write_line(tree, &tree->list->processes[at], str_text(&branches));

        ptrdiff_t next = tree->first_child[at];
        while (next < 0 && at != top) {
            next = tree->next_sibling[at];
            at = tree->list->processes[at].parent_index;
        }
        at = next;
    }
    tree->text->failed |= branches.failed;
    str_finish(&branches);
}

static void write_trees(const struct tree *tree, ptrdiff_t *first_child, ptrdiff_t *next_sibling)
{
    const struct gput_processes *list = tree->list;
    ptrdiff_t parents[MAX_DEPTH];
    for (size_t i = 0; i < list->count; i++)
        first_child[i] = next_sibling[i] = -1;
    for (size_t i = list->count; i-- > 0;) {
        ptrdiff_t parent = list->processes[i].parent_index;
        if (parent < 0)
            continue;
        next_sibling[i] = first_child[parent];
        first_child[parent] = (ptrdiff_t)i;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->processes[i].parent_index < 0)
            write_below(tree, (ptrdiff_t)i, parents);
    }
}

static void write_others(const struct tree *tree)
{
    const struct gput_processes *list = tree->list;
    struct str *text = tree->text;
    str_printf(text, "%12s%12s", "", "");
    write_bound(text, true, list->others.cpu_seconds, 3);
    write_figure(text, list->others.peak_ram_bytes * gput_ram_unit_factor(list->ram_unit), 3);
    if (tree->has_gpu_ram)
        write_figure(
            text, list->others.peak_gpu_ram_bytes * gput_ram_unit_factor(list->gpu_ram_unit), 3);
    write_figure(text, list->others.read_bytes, 0);
    write_figure(text, list->others.write_bytes, 0);
    str_printf(text, "%11s  %llu others (peaks: of the largest)\n", "",
        (unsigned long long)list->others.count);
}

/* "Processes (RAM in gigabytes):", and the heads of the columns. */
static void write_head(const struct tree *tree)
{
    const struct gput_processes *list = tree->list;
    str_printf(tree->text, "Processes (RAM in %s", gput_ram_unit_name(list->ram_unit));
    if (tree->has_gpu_ram)
        str_printf(tree->text, ", GPU RAM in %s", gput_ram_unit_name(list->gpu_ram_unit));
    str_printf(tree->text, "):\n%12s%12s%12s%12s", "Start s", "Lived s", "CPU s", "Peak RAM");
    if (tree->has_gpu_ram)
        str_printf(tree->text, "%12s", "GPU RAM");
    str_printf(tree->text, "%12s%12s%11s  %s\n", "Read bytes", "Written", "Exit", "Process");
}

void processes_report_write_tree(const struct gput_processes *processes, struct str *text)
{
    ptrdiff_t *links = malloc((2 * processes->count + 1) * sizeof *links);
    if (!links) {
        text->failed = true;
        return;
    }
    ptrdiff_t *next_sibling = links + processes->count;
    struct tree tree = {
        .list = processes, .first_child = links, .next_sibling = next_sibling, .text = text};
    for (size_t i = 0; i < processes->count; i++)
        tree.has_gpu_ram |= !isnan(processes->processes[i].peak_gpu_ram_bytes);
    for (size_t i = 0; i < processes->count; i++)
        tree.has_bounds |= gput_process_at_least(&processes->processes[i]) != NULL;
    write_head(&tree);
    write_trees(&tree, links, next_sibling);
    if (processes->others.count > 0)
        write_others(&tree);
    if (tree.has_bounds)
        str_append(text,
            "≥: at least this; the rest was used after the last sample of it, after the last "
            "scheduler tick before its end, or is less than a kilobyte a thread\n");
    free(links);
}
