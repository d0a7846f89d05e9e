#include "views/output/processes_report.h"

#include "base/cleanup.h"
#include "base/human.h"
#include "base/table.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/process_columns.h"
#include "views/output/text_grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- a document ---- */

/* Adds a column of a process in the unit that the session chose. */
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

/* ---- tables ---- */

int gput_processes_tables(
    const struct gput_processes *processes, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    struct gput_table *table = tables_add(building, "processes");
    table_add_columns(table, "", NULL, process_columns, PROCESS_COLUMNS);
    for (size_t i = 0; i < processes->count; i++)
        table_put_columns(table, process_columns, PROCESS_COLUMNS, &processes->processes[i]);
    table = tables_add_record(building, "other_processes");
    table_add_columns(table, "", NULL, other_process_columns, OTHER_PROCESS_COLUMNS);
    table_put_columns(table, other_process_columns, OTHER_PROCESS_COLUMNS, processes);
    return tables_finish_building(building, tables, error);
}

/* ---- a tree ---- */

/* Deeper trees are cut to this many branches a line. */
#define MAX_DEPTH 64

/* More rows than this hide what a summary says before them. */
#define MAX_SUMMARY_ROWS 20

#define MAX_LINE 78 /* of an explanation */
/* Columns that a screen keeps for names of processes, if these are as long. */
#define MIN_NAME 20

struct node {
    ptrdiff_t first_child, next_sibling; /* of those shown; -1: none */
    bool is_shown;                       /* then its parent is, too */
};

enum figure { FIGURE_SECONDS, FIGURE_RAM, FIGURE_GPU_RAM, FIGURE_BYTES, FIGURES };

enum cell { START, LIVED, CPU, PEAK_RAM, PEAK_GPU_RAM, READ, WRITTEN, EXIT, CELLS };

/* The columns before the name, and in which order a screen that is too narrow for all lacks them.
 */
static const struct {
    enum figure figure; /* EXIT: not of interest */
    const char *head, *summary_head;
    unsigned drop;
} cells[CELLS] = {
    [START] = {FIGURE_SECONDS, "Start s", "Start", 3},
    [LIVED] = {FIGURE_SECONDS, "Lived s", "Lived", 5},
    [CPU] = {FIGURE_SECONDS, "CPU s", "CPU", 0},
    [PEAK_RAM] = {FIGURE_RAM, "Peak RAM", "Peak RAM", 0},
    [PEAK_GPU_RAM] = {FIGURE_GPU_RAM, "GPU RAM", "GPU RAM", 6},
    [READ] = {FIGURE_BYTES, "Read bytes", "Read", 2},
    [WRITTEN] = {FIGURE_BYTES, "Written", "Written", 1},
    [EXIT] = {FIGURE_BYTES, "Exit", "Exit", 4},
};

struct tree {
    const struct gput_processes *list;
    struct node *nodes; /* one for each process */
    struct str *text;
    bool is_summary;    /* not all rows are there */
    bool fits[FIGURES]; /* figures of that kind have a unit that fits */
    bool has_gpu_ram;   /* of some process that is shown it is known; else it has no column */
    bool has_bounds;    /* some figure is a lower bound */
    size_t screen;      /* columns of the screen; 0: any number */
    struct text_grid grid;
};

/* ---- cells ---- */

/* Appends a value in seconds or bytes, and before it "≥" where it is a lower bound. */
static void append_figure(
    const struct tree *tree, enum cell cell, bool is_at_least, double value, struct str *to)
{
    char human[HUMAN_SIZE];
    enum figure figure = cells[cell].figure;
    str_append(to, is_at_least && !isnan(value) ? "≥" : "");
    if (isnan(value))
        str_append(to, "n/a");
    else if (tree->fits[figure])
        str_append(to, figure == FIGURE_SECONDS ? human_seconds_of_column(value, human)
                                                : human_bytes_of_column(value, human));
    else if (figure == FIGURE_RAM)
        str_printf(to, "%.3f", value * gput_ram_unit_factor(tree->list->ram_unit));
    else if (figure == FIGURE_GPU_RAM)
        str_printf(to, "%.3f", value * gput_ram_unit_factor(tree->list->gpu_ram_unit));
    else
        str_printf(to, "%.*f", figure == FIGURE_SECONDS ? 3 : 0, value);
}

/* Appends what a column says of a process. */
static void append_cell(
    const struct tree *tree, const struct gput_process *process, enum cell cell, struct str *to)
{
    bool has_ended = gput_process_at_least(process) != NULL;
    bool is_kept = process->peak != GPUT_PROCESS_PEAK_FINAL;
    double start = (double)(process->start_ns - tree->list->start_ns) * 1e-9;
    double lived = process->end_ns ? (double)(process->end_ns - process->start_ns) * 1e-9 : NAN;
    switch (cell) {
    case START:
        append_figure(tree, cell, false, start, to);
        break;
    case LIVED:
        append_figure(tree, cell, !process->end_is_exact, lived, to);
        break;
    case CPU:
        append_figure(tree, cell, has_ended, process->cpu_seconds, to);
        break;
    case PEAK_RAM:
        append_figure(tree, cell, has_ended && is_kept, process->peak_ram_bytes, to);
        break;
    case PEAK_GPU_RAM:
        append_figure(tree, cell, has_ended && !process->is_final, process->peak_gpu_ram_bytes, to);
        break;
    case READ:
        append_figure(tree, cell, has_ended, process->read_bytes, to);
        break;
    case WRITTEN:
        append_figure(tree, cell, has_ended, process->write_bytes, to);
        break;
    default:
        if (process->has_status && WIFSIGNALED(process->status))
            str_printf(to, "signal %d", WTERMSIG(process->status));
        else if (process->has_status)
            str_printf(to, "%d", WEXITSTATUS(process->status));
        else
            str_append(to, process->end_ns ? "n/a" : "running");
    }
}

/* Whether a column is there on a screen that is wide enough. */
static bool has_cell(const struct tree *tree, enum cell cell)
{
    return cell != PEAK_GPU_RAM || tree->has_gpu_ram;
}

static const char *head_of(const struct tree *tree, enum cell cell)
{
    return tree->fits[cells[cell].figure] ? cells[cell].summary_head : cells[cell].head;
}

/* ---- rows ---- */

/* Appends a name, which may hold bytes that would upset a terminal. */
static void append_name(struct str *text, const char *name)
{
    for (; *name; name++)
        str_append_char(text, (unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}

/* Puts the row of a process; NULL: of the others. */
static void put_row(struct tree *tree, const struct gput_process *process, const char *branches)
{
    CLEANUP_STR struct str part = {0};
    for (enum cell cell = 0; cell < CELLS; cell++) {
        str_clear(&part);
        if (process)
            append_cell(tree, process, cell, &part);
        else {
            /* Append a figure of the processes that have no row: they have no start and no end. */
            const double figures[CELLS] = {[CPU] = tree->list->others.cpu_seconds,
                [PEAK_RAM] = tree->list->others.peak_ram_bytes,
                [PEAK_GPU_RAM] = tree->list->others.peak_gpu_ram_bytes,
                [READ] = tree->list->others.read_bytes,
                [WRITTEN] = tree->list->others.write_bytes};
            if (cell != START && cell != LIVED && cell != EXIT)
                append_figure(tree, cell, cell == CPU, figures[cell], &part);
        }
        if (has_cell(tree, cell))
            text_grid_put(&tree->grid, str_text(&part));
    }
    str_clear(&part);
    if (process) {
        str_append(&part, branches);
        append_name(&part, process->name[0] ? process->name : "?");
        str_printf(&part, "(%d)", (int)process->pid);
    } else {
        str_printf(&part, "%llu others (peaks: of the largest)",
            (unsigned long long)tree->list->others.count);
    }
    if (process && process->command_line) {
        str_append(&part, "  ");
        append_name(&part, process->command_line);
    }
    text_grid_put(&tree->grid, str_text(&part));
    tree->text->failed |= part.failed;
}

/* Puts the rows of all trees, after it has linked the processes that are shown to their parents. */
static void put_trees(struct tree *tree)
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
    for (size_t i = 0; i < list->count; i++)
        if (list->processes[i].parent_index < 0 && tree->nodes[i].is_shown) {
            /* Put the rows of a process and those below it. It goes depth first without recursion:
             * a chain of thousands must not use up the stack. */
            ptrdiff_t top = (ptrdiff_t)i;
            CLEANUP_STR struct str branches = {0};
            ptrdiff_t parents[MAX_DEPTH], at = top;
            while (at >= 0) {
                str_clear(&branches);
                size_t depth = 0;
                for (ptrdiff_t k = at; k != top && depth < MAX_DEPTH;
                     k = tree->list->processes[k].parent_index)
                    parents[depth++] = k;
                while (depth-- > 1)
                    str_append(
                        &branches, tree->nodes[parents[depth]].next_sibling >= 0 ? "│  " : "   ");
                if (at != top)
                    str_append(&branches, tree->nodes[at].next_sibling >= 0 ? "├─ " : "└─ ");
                put_row(tree, &tree->list->processes[at], str_text(&branches));

                ptrdiff_t next = tree->nodes[at].first_child;
                while (next < 0 && at != top) {
                    next = tree->nodes[at].next_sibling;
                    at = tree->list->processes[at].parent_index;
                }
                at = next;
            }
            tree->text->failed |= branches.failed;
        }
}

/* The columns of the longest name with its branches, without command lines: of those the beginning
 * is enough. */
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

/* Writes lines of words, all but the first after three blanks. */
static void write_wrapped(const struct tree *tree, const char *words)
{
    size_t screen = tree->screen > 0 && tree->screen < MAX_LINE ? tree->screen : MAX_LINE;
    for (size_t column = 0; *words;) {
        int length = 0;
        size_t width = 0;
        for (; words[length] && words[length] != ' '; length++)
            width += (words[length] & 0xc0) != 0x80;
        if (column > 0 && column + 1 + width > screen) {
            str_append(tree->text, "\n   ");
            column = 3;
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

/* ---- which ---- */

/* Finds, of those not yet shown, that with the most CPU time, or RAM. -1: all are shown. */
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

/* Chooses all processes, or for a summary the largest by CPU time and RAM in turn, each with those
 * above it, or of them the topmost that there is space for. Returns how many are shown. */
static size_t choose_shown(const struct tree *tree)
{
    const struct gput_process *processes = tree->list->processes;
    size_t shown = 0, count = tree->list->count;
    if (!tree->is_summary || count <= MAX_SUMMARY_ROWS) {
        for (size_t i = 0; i < count; i++)
            tree->nodes[i].is_shown = true;
        return count;
    }
    for (bool by_ram = false; shown < MAX_SUMMARY_ROWS; by_ram = !by_ram) {
        size_t hidden = 0, left = MAX_SUMMARY_ROWS - shown;
        ptrdiff_t largest = find_largest(tree, by_ram);
        for (ptrdiff_t i = largest; i >= 0 && !tree->nodes[i].is_shown;
             i = processes[i].parent_index)
            hidden++;
        for (ptrdiff_t i = largest; hidden > 0; i = processes[i].parent_index) {
            if (hidden-- > left)
                continue;
            tree->nodes[i].is_shown = true;
            shown++;
        }
    }
    return shown;
}

/* ---- the whole ---- */

/* Writes the table: heads, trees, what is not shown, and what "≥" means. */
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
    str_append(tree->text, "Processes");
    const char *begin = " (";
    if (!tree->fits[FIGURE_RAM]) {
        str_printf(tree->text, " (RAM in %s", gput_ram_unit_name(list->ram_unit));
        begin = ", ";
    }
    if (tree->has_gpu_ram && !tree->fits[FIGURE_GPU_RAM]) {
        str_printf(tree->text, "%sGPU RAM in %s", begin, gput_ram_unit_name(list->gpu_ram_unit));
        begin = ", ";
    }
    str_append(tree->text, begin[0] == ',' ? "):\n" : ":\n");

    /* Make the columns of the grid, with their heads. Where a screen has the space, a column is as
     * wide as what it holds may become: "12 min 30 s" is the longest of the times in a summary. */
    size_t name = tree->screen > 0 ? longest_name(tree) : 0;
    tree->grid = (struct text_grid){.gap = 2, .margin = 2, .screen = tree->screen};
    for (enum cell cell = 0; cell < CELLS; cell++) {
        size_t width = cell == EXIT                           ? 9
                       : !tree->is_summary                    ? 10
                       : cells[cell].figure == FIGURE_SECONDS ? 11
                                                              : 8;
        if (has_cell(tree, cell))
            text_grid_add_column(&tree->grid,
                (struct text_grid_column){.min_width = width, .drop = cells[cell].drop});
    }
    text_grid_add_column(&tree->grid, (struct text_grid_column){.is_left = true,
                                          .wanted_width = name,
                                          .least_width = name < MIN_NAME ? name : MIN_NAME});
    for (enum cell cell = 0; cell < CELLS; cell++)
        if (has_cell(tree, cell))
            text_grid_put(&tree->grid, head_of(tree, cell));
    text_grid_put(&tree->grid, "Process");

    put_trees(tree);
    if (list->others.count > 0)
        put_row(tree, NULL, "");
    text_grid_write_rows(&tree->grid, 0, 1 + shown, tree->text);
    if (shown < list->count)
        str_printf(tree->text, "and %zu more: -f full, or -f json\n", list->count - shown);
    text_grid_write_rows(&tree->grid, 1 + shown, SIZE_MAX, tree->text);

    CLEANUP_STR struct str missing = {0};
    size_t column = 0;
    for (enum cell cell = 0; cell < CELLS; cell++)
        if (has_cell(tree, cell) && text_grid_is_dropped(&tree->grid, column++))
            str_printf(
                &missing, "%s%s", missing.length == 0 ? "Not here: " : ", ", head_of(tree, cell));
    str_append(&missing, " (-f full)");
    if (text_begins_with(str_text(&missing), "Not here"))
        write_wrapped(tree, str_text(&missing));
    tree->text->failed |= missing.failed;
    if (tree->has_bounds)
        write_wrapped(tree,
            "≥: at least this; the rest was used after the last sample of it, after the last "
            "scheduler tick before its end, or is less than a kilobyte a thread");
}

/* Writes the tree with all that it needs in memory; `fits`: kinds of figures that have a unit that
 * fits. */
static void write_processes(const struct gput_processes *processes, bool is_summary,
    const bool fits[FIGURES], size_t screen, struct str *text)
{
    CLEANUP_FREE struct node *nodes = calloc(processes->count + 1, sizeof *nodes);
    struct tree tree = {.list = processes,
        .nodes = nodes,
        .text = text,
        .is_summary = is_summary,
        .screen = screen};
    text->failed |= !nodes;
    memcpy(tree.fits, fits, sizeof tree.fits);
    if (nodes)
        write_tree(&tree);
    text_grid_finish(&tree.grid);
}

void processes_report_write_tree(const struct gput_processes *processes,
    const struct gput_results_render_options *options, struct str *text)
{
    bool fit = options && options->fits_units;
    const bool fits[FIGURES] = {
        [FIGURE_SECONDS] = fit,
        [FIGURE_BYTES] = fit,
        [FIGURE_RAM] =
            fit && !options->keeps_ram_unit && processes->ram_unit == GPUT_RAM_UNIT_GIGABYTES,
        [FIGURE_GPU_RAM] = fit && !options->keeps_gpu_ram_unit &&
                           processes->gpu_ram_unit == GPUT_RAM_UNIT_GIGABYTES,
    };
    write_processes(processes, false, fits, 0, text);
}

void processes_report_write_summary(
    const struct gput_processes *processes, size_t screen, struct str *text)
{
    const bool fits[FIGURES] = {true, true, true, true};
    write_processes(processes, true, fits, screen, text);
}
