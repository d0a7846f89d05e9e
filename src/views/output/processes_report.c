#include "views/output/processes_report.h"

#include "base/human.h"
#include "base/utf8.h"
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

/* More rows than this hide what a summary says before them. */
#define MAX_SUMMARY_ROWS 20

struct node {
    ptrdiff_t first_child, next_sibling; /* of those shown; -1: none */
    bool is_shown;                       /* then its parent is, too */
};

enum figure { FIGURE_SECONDS, FIGURE_RAM, FIGURE_GPU_RAM, FIGURE_BYTES };

enum cell { START, LIVED, CPU, PEAK_RAM, PEAK_GPU_RAM, READ, WRITTEN, EXIT, CELLS };

static const struct {
    enum figure figure; /* EXIT: not of interest */
    const char *head, *summary_head;
} cells[CELLS] = {
    [START] = {FIGURE_SECONDS, "Start s", "Start"},
    [LIVED] = {FIGURE_SECONDS, "Lived s", "Lived"},
    [CPU] = {FIGURE_SECONDS, "CPU s", "CPU"},
    [PEAK_RAM] = {FIGURE_RAM, "Peak RAM", "Peak RAM"},
    [PEAK_GPU_RAM] = {FIGURE_GPU_RAM, "GPU RAM", "GPU RAM"},
    [READ] = {FIGURE_BYTES, "Read bytes", "Read"},
    [WRITTEN] = {FIGURE_BYTES, "Written", "Written"},
    [EXIT] = {FIGURE_BYTES, "Exit", "Exit"},
};

/* What a screen that is too narrow for all has not, the first first. */
static const enum cell dispensable[] = {WRITTEN, READ, START, EXIT, LIVED, PEAK_GPU_RAM};

#define GAP 2
#define MAX_LINE 78 /* of an explanation */
/* Columns that a screen keeps for names of processes, if these are as long. */
#define MIN_NAME 20

struct tree {
    const struct gput_processes *list;
    struct node *nodes; /* one for each process */
    struct str *text;
    bool is_summary;      /* each figure has a unit that fits, and not all rows are there */
    bool has_gpu_ram;     /* of some process that is shown it is known */
    bool has_bounds;      /* some figure is a lower bound */
    size_t screen;        /* columns of the screen; 0: any number */
    size_t widths[CELLS]; /* 0: is not there */
    size_t name_width;    /* longer ones are cut; 0: none is */
};

/* ---- cells ---- */

/* A value in seconds or bytes. */
static void append_figure(const struct tree *tree, enum figure figure, double value, struct str *to)
{
    char human[HUMAN_SIZE];
    if (isnan(value))
        str_append(to, "n/a");
    else if (tree->is_summary)
        str_append(to, figure == FIGURE_SECONDS ? human_seconds_of_column(value, human)
                                                : human_bytes_of_column(value, human));
    else if (figure == FIGURE_RAM)
        str_printf(to, "%.3f", value * gput_ram_unit_factor(tree->list->ram_unit));
    else if (figure == FIGURE_GPU_RAM)
        str_printf(to, "%.3f", value * gput_ram_unit_factor(tree->list->gpu_ram_unit));
    else
        str_printf(to, "%.*f", figure == FIGURE_SECONDS ? 3 : 0, value);
}

static void append_value(const struct tree *tree, enum cell cell, double value, struct str *to)
{
    append_figure(tree, cells[cell].figure, value, to);
}

/* Of what may be more than that. */
static void append_bound(
    const struct tree *tree, enum cell cell, bool is_at_least, double value, struct str *to)
{
    str_append(to, is_at_least && !isnan(value) ? "≥" : "");
    append_value(tree, cell, value, to);
}

static void append_status(const struct gput_process *process, struct str *to)
{
    if (process->has_status && WIFSIGNALED(process->status))
        str_printf(to, "signal %d", WTERMSIG(process->status));
    else if (process->has_status)
        str_printf(to, "%d", WEXITSTATUS(process->status));
    else
        str_append(to, process->end_ns ? "n/a" : "running");
}

static void append_cell(
    const struct tree *tree, const struct gput_process *process, enum cell cell, struct str *to)
{
    bool has_ended = gput_process_at_least(process) != NULL;
    double start = (double)(process->start_ns - tree->list->start_ns) * 1e-9;
    double lived = process->end_ns ? (double)(process->end_ns - process->start_ns) * 1e-9 : NAN;
    bool is_kept = process->peak != GPUT_PROCESS_PEAK_FINAL;
    switch (cell) {
    case START:
        append_value(tree, cell, start, to);
        break;
    case LIVED:
        append_bound(tree, cell, !process->end_is_exact, lived, to);
        break;
    case CPU:
        append_bound(tree, cell, has_ended, process->cpu_seconds, to);
        break;
    case PEAK_RAM:
        append_bound(tree, cell, has_ended && is_kept, process->peak_ram_bytes, to);
        break;
    case PEAK_GPU_RAM:
        append_bound(tree, cell, has_ended && !process->is_final, process->peak_gpu_ram_bytes, to);
        break;
    case READ:
        append_bound(tree, cell, has_ended, process->read_bytes, to);
        break;
    case WRITTEN:
        append_bound(tree, cell, has_ended, process->write_bytes, to);
        break;
    default:
        append_status(process, to);
    }
}

/* Of the processes that have no row: they have no start and no end. */
static void append_cell_of_others(const struct tree *tree, enum cell cell, struct str *to)
{
    const struct gput_processes *list = tree->list;
    switch (cell) {
    case CPU:
        append_bound(tree, cell, true, list->others.cpu_seconds, to);
        break;
    case PEAK_RAM:
        append_value(tree, cell, list->others.peak_ram_bytes, to);
        break;
    case PEAK_GPU_RAM:
        append_value(tree, cell, list->others.peak_gpu_ram_bytes, to);
        break;
    case READ:
        append_value(tree, cell, list->others.read_bytes, to);
        break;
    case WRITTEN:
        append_value(tree, cell, list->others.write_bytes, to);
        break;
    default:
        break;
    }
}

static const char *head_of(const struct tree *tree, enum cell cell)
{
    return tree->is_summary ? cells[cell].summary_head : cells[cell].head;
}

static void write_aligned(const struct tree *tree, enum cell cell, const struct str *what)
{
    size_t used = utf8_width(str_text(what)), width = tree->widths[cell];
    str_append_repeated(tree->text, ' ', used < width ? width - used : 0);
    str_append(tree->text, str_text(what));
    tree->text->failed |= what->failed;
}

/* ---- lines ---- */

/* A name may hold bytes that would upset a terminal. */
static void write_name(struct str *text, const char *name)
{
    for (; *name; name++)
        str_append_char(text, (unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

/* What is after the cells of a line. */
static void write_end(const struct tree *tree, struct str *end)
{
    if (tree->name_width > 0)
        utf8_cut(end, tree->name_width);
    str_printf(tree->text, "%*s%s\n", GAP, "", str_text(end));
    tree->text->failed |= end->failed;
    str_finish(end);
}

static void write_line(
    const struct tree *tree, const struct gput_process *process, const char *branches)
{
    struct str part = {0};
    for (enum cell cell = 0; cell < CELLS; cell++) {
        str_clear(&part);
        append_cell(tree, process, cell, &part);
        if (tree->widths[cell] > 0)
            write_aligned(tree, cell, &part);
    }
    str_clear(&part);
    str_append(&part, branches);
    write_name(&part, process->name[0] ? process->name : "?");
    str_printf(&part, "(%d)", (int)process->pid);
    if (process->command_line) {
        str_append(&part, "  ");
        write_name(&part, process->command_line);
    }
    write_end(tree, &part);
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
    struct str part = {0};
    for (enum cell cell = 0; cell < CELLS; cell++) {
        str_clear(&part);
        append_cell_of_others(tree, cell, &part);
        if (tree->widths[cell] > 0)
            write_aligned(tree, cell, &part);
    }
    str_clear(&part);
    str_printf(
        &part, "%llu others (peaks: of the largest)", (unsigned long long)tree->list->others.count);
    write_end(tree, &part);
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
    for (enum cell cell = 0; cell < CELLS; cell++)
        if (tree->widths[cell] > 0)
            str_printf(tree->text, "%*s", (int)tree->widths[cell], head_of(tree, cell));
    str_printf(tree->text, "%*sProcess\n", GAP, "");
}

/* ---- widths ---- */

/* "12 min 30 s" is the longest of the times in a summary. */
static size_t usual_width(const struct tree *tree, enum cell cell)
{
    if (cell == PEAK_GPU_RAM && !tree->has_gpu_ram)
        return 0;
    if (cell == EXIT)
        return 11;
    return !tree->is_summary ? 12 : cells[cell].figure == FIGURE_SECONDS ? 13 : 10;
}

static size_t needed_width(const struct tree *tree, enum cell cell)
{
    struct str part = {0};
    size_t width = utf8_width(head_of(tree, cell));
    for (size_t i = 0; i <= tree->list->count; i++) {
        bool is_last = i == tree->list->count;
        str_clear(&part);
        if (is_last && tree->list->others.count > 0)
            append_cell_of_others(tree, cell, &part);
        else if (!is_last && tree->nodes[i].is_shown)
            append_cell(tree, &tree->list->processes[i], cell, &part);
        size_t used = utf8_width(str_text(&part));
        width = used > width ? used : width;
    }
    tree->text->failed |= part.failed;
    str_finish(&part);
    return width + GAP;
}

/* Without command lines: of those the begin is enough. */
static size_t longest_name(const struct tree *tree)
{
    char pid[24];
    size_t longest = 0;
    const struct gput_process *processes = tree->list->processes;
    for (size_t i = 0; i < tree->list->count; i++) {
        if (!tree->nodes[i].is_shown)
            continue;
        size_t width = utf8_width(processes[i].name) +
                       (size_t)snprintf(pid, sizeof pid, "(%d)", (int)processes[i].pid);
        for (ptrdiff_t at = processes[i].parent_index; at >= 0; at = processes[at].parent_index)
            width += utf8_width("├─ ");
        longest = width > longest ? width : longest;
    }
    return longest;
}

static size_t width_of_cells(const struct tree *tree)
{
    size_t width = 0;
    for (enum cell cell = 0; cell < CELLS; cell++)
        width += tree->widths[cell];
    return width;
}

/* On a screen columns are as wide as they must be, and some not there. */
static void choose_widths(struct tree *tree)
{
    for (enum cell cell = 0; cell < CELLS; cell++)
        tree->widths[cell] = usual_width(tree, cell);
    if (tree->screen == 0)
        return;
    size_t name = longest_name(tree), least = (name < MIN_NAME ? name : MIN_NAME) + GAP;
    if (width_of_cells(tree) + name + GAP > tree->screen)
        for (enum cell cell = 0; cell < CELLS; cell++)
            if (tree->widths[cell] > 0)
                tree->widths[cell] = needed_width(tree, cell);
    for (size_t i = 0; i < sizeof dispensable / sizeof dispensable[0]; i++)
        if (width_of_cells(tree) + least > tree->screen)
            tree->widths[dispensable[i]] = 0;
    size_t used = width_of_cells(tree) + GAP;
    tree->name_width = tree->screen > used + 1 ? tree->screen - used : 1;
}

/* Lines of words, all but the first after `indent` blanks. */
static void write_wrapped(const struct tree *tree, const char *words, size_t indent)
{
    size_t screen = tree->screen > 0 && tree->screen < MAX_LINE ? tree->screen : MAX_LINE;
    for (size_t column = 0; *words;) {
        int length = 0;
        size_t width = 0;
        for (; words[length] && words[length] != ' '; length++)
            width += (words[length] & 0xc0) != 0x80;
        if (column > 0 && column + 1 + width > screen) {
            str_printf(tree->text, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > 0) {
            str_append_char(tree->text, ' ');
            column++;
        }
        str_printf(tree->text, "%.*s", length, words);
        column += width;
        words += length + (words[length] == ' ');
    }
    str_append_char(tree->text, '\n');
}

/* "Not here: Start, Read (-f full)" */
static void write_missing_cells(const struct tree *tree)
{
    struct str names = {0};
    for (enum cell cell = 0; cell < CELLS; cell++)
        if (tree->widths[cell] == 0 && usual_width(tree, cell) > 0)
            str_printf(
                &names, "%s%s", names.length == 0 ? "Not here: " : ", ", head_of(tree, cell));
    if (names.length > 0) {
        str_append(&names, " (-f full)");
        write_wrapped(tree, str_text(&names), 3);
    }
    tree->text->failed |= names.failed;
    str_finish(&names);
}

/* ---- which ---- */

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
    choose_widths(tree);
    write_head(tree);
    write_trees(tree);
    if (shown < list->count)
        str_printf(tree->text, "and %zu more: -f full, or -f json\n", list->count - shown);
    if (list->others.count > 0)
        write_others(tree);
    write_missing_cells(tree);
    if (tree->has_bounds)
        write_wrapped(tree,
            "≥: at least this; the rest was used after the last sample of it, after the last "
            "scheduler tick before its end, or is less than a kilobyte a thread",
            3);
}

static void write_processes(
    const struct gput_processes *processes, bool is_summary, size_t screen, struct str *text)
{
    struct node *nodes = calloc(processes->count + 1, sizeof *nodes);
    struct tree tree = {.list = processes,
        .nodes = nodes,
        .text = text,
        .is_summary = is_summary,
        .screen = screen};
    text->failed |= !nodes;
    if (nodes)
        write_tree(&tree);
    free(nodes);
}

void processes_report_write_tree(const struct gput_processes *processes, struct str *text)
{
    write_processes(processes, false, 0, text);
}

void processes_report_write_summary(
    const struct gput_processes *processes, size_t screen, struct str *text)
{
    write_processes(processes, true, screen, text);
}
