#include "views/output/processes_report.h"

#include "base/utf8.h"
#include "model/processes.h"
#include "tables.h"
#include "testing.h"

#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static struct gput_process process(pid_t pid, ptrdiff_t parent, const char *name)
{
    struct gput_process process = {.pid = pid,
        .parent_index = parent,
        .start_ns = 100 * SECOND,
        .end_ns = 102 * SECOND,
        .end_is_exact = true,
        .is_final = true,
        .cpu_seconds = 1.5,
        .peak_ram_bytes = 5e6,
        .peak = GPUT_PROCESS_PEAK_FINAL,
        .peak_gpu_ram_bytes = NAN,
        .read_bytes = 10,
        .write_bytes = NAN,
        .storage_read_bytes = NAN,
        .storage_write_bytes = NAN,
        .has_status = true};
    snprintf(process.name, sizeof process.name, "%s", name);
    return process;
}

static char *tree_of(const struct gput_processes *list)
{
    struct str text = {0};
    processes_report_write_tree(list, NULL, &text);
    return str_steal(&text);
}

TEST(draws_branches)
{
    struct gput_process family[] = {process(1, -1, "main"), process(2, 0, "elder"),
        process(3, 1, "grandchild"), process(4, 0, "younger"), process(5, 3, "last")};
    struct gput_processes list = {.processes = family, .count = 5, .start_ns = 99 * SECOND};
    char *text = tree_of(&list);
    const char *names[] = {"  main(1)\n", "  ├─ elder(2)\n", "  │  └─ grandchild(3)\n",
        "  └─ younger(4)\n", "     └─ last(5)\n"};
    const char *at = text;
    for (size_t i = 0; i < 5; i++) {
        at = strstr(at, names[i]);
        assert_non_null(at);
    }
    assert_non_null(strstr(text, "       1.000       2.000      ≥1.500"));
    free(text);
}

TEST(says_how_each_ended)
{
    struct gput_process family[] = {process(1, -1, "a"), process(2, -1, "b"), process(3, -1, "c")};
    family[0].status = 0x700;
    family[1].status = 9;
    family[2].has_status = false;
    family[2].end_ns = 0;
    struct gput_processes list = {
        .processes = family, .count = 3, .ram_unit = GPUT_RAM_UNIT_MEGABYTES};
    char *text = tree_of(&list);
    assert_non_null(strstr(text, "          7  a(1)"));
    assert_non_null(strstr(text, "   signal 9  b(2)"));
    assert_non_null(strstr(text, "    running  c(3)"));
    assert_non_null(strstr(text, "5.000"));
    assert_non_null(strstr(text, "n/a"));
    free(text);
}

TEST(marks_what_is_a_lower_bound)
{
    struct gput_process family[] = {process(1, -1, "a"), process(2, 0, "b"), process(3, 0, "c")};
    family[1].is_final = family[1].end_is_exact = false;
    family[1].peak = GPUT_PROCESS_PEAK_KEPT;
    family[2].is_final = false;
    family[2].end_ns = 0;
    struct gput_processes list = {
        .processes = family, .count = 3, .ram_unit = GPUT_RAM_UNIT_MEGABYTES};
    char *text = tree_of(&list);
    assert_non_null(strstr(text, "      ≥1.500       5.000         ≥10         n/a"));
    assert_non_null(strstr(text, "      ≥2.000      ≥1.500      ≥5.000         ≥10         n/a"));
    assert_non_null(strstr(text, "         n/a       1.500       5.000          10         n/a"));
    assert_non_null(strstr(text, "\n≥: at least this"));
    free(text);
    list.processes = &family[2];
    list.count = 1;
    text = tree_of(&list);
    assert_null(strstr(text, "≥"));
    free(text);
}

TEST(gpu_ram_has_a_column_where_it_is_known)
{
    struct gput_process family[] = {process(1, -1, "a"), process(2, 0, "b")};
    struct gput_processes list = {.processes = family,
        .count = 2,
        .others = {.count = 1, .peak_gpu_ram_bytes = 1e6},
        .ram_unit = GPUT_RAM_UNIT_MEGABYTES,
        .gpu_ram_unit = GPUT_RAM_UNIT_MEGABYTES};
    char *text = tree_of(&list);
    assert_null(strstr(text, "GPU RAM"));
    free(text);
    family[1].peak_gpu_ram_bytes = 7e9;
    text = tree_of(&list);
    assert_non_null(strstr(text, "Processes (RAM in megabytes, GPU RAM in megabytes):\n"));
    assert_non_null(strstr(text, "    Peak RAM     GPU RAM  Read bytes"));
    assert_non_null(strstr(text, "       5.000         n/a         ≥10"));
    assert_non_null(strstr(text, "       5.000    7000.000         ≥10"));
    assert_non_null(strstr(text, "       0.000       1.000           0"));
    free(text);
}

TEST(names_cannot_upset_a_terminal)
{
    struct gput_process one = process(1, -1, "a\033[2Jb\n");
    struct gput_processes list = {.processes = &one, .count = 1};
    char *text = tree_of(&list);
    assert_non_null(strstr(text, "a?[2Jb?(1)"));
    free(text);
}

TEST(a_chain_of_thousands_is_no_trouble)
{
    size_t count = 5000;
    struct gput_process *chain = calloc(count, sizeof *chain);
    for (size_t i = 0; i < count; i++)
        chain[i] = process((pid_t)i + 1, (ptrdiff_t)i - 1, "link");
    struct gput_processes list = {.processes = chain, .count = count};
    char *text = tree_of(&list);
    assert_non_null(strstr(text, "link(5000)"));
    free(text);
    free(chain);
}

static char *summary_on(const struct gput_processes *list, size_t screen)
{
    struct str text = {0};
    processes_report_write_summary(list, screen, &text);
    return str_steal(&text);
}

static char *summary_of(const struct gput_processes *list)
{
    return summary_on(list, 0);
}

TEST(a_summary_has_units_that_fit)
{
    struct gput_process family[] = {process(1, -1, "a"), process(2, 0, "b")};
    family[0].end_ns = family[0].start_ns + 750 * SECOND;
    family[0].read_bytes = 1411072;
    family[1].peak_ram_bytes = 2.1e6;
    family[1].cpu_seconds = 0.004;
    struct gput_processes list = {.processes = family,
        .count = 2,
        .start_ns = 99 * SECOND,
        .ram_unit = GPUT_RAM_UNIT_GIGABYTES,
        .others = {.count = 1, .cpu_seconds = 0.5, .peak_ram_bytes = 3e3}};
    char *text = summary_of(&list);
    const char *head = "Processes:\n        Start        Lived          CPU  Peak RAM      Read"
                       "   Written       Exit  Process\n";
    assert_memory_equal(text, head, strlen(head));
    assert_non_null(strstr(text, "\n       1.00 s  12 min 30 s      ≥1.50 s   5.00 MB  ≥1.41 MB"
                                 "       n/a          0  a(1)\n"));
    assert_non_null(strstr(text, "       2.00 s     ≥4.00 ms   2.10 MB     ≥10 B       n/a"));
    assert_non_null(
        strstr(text, "      ≥500 ms   3.00 kB       0 B       0 B             1 others"));
    assert_null(strstr(text, " more"));
    free(text);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

TEST(a_summary_has_the_largest_and_their_parents)
{
    struct gput_process family[124];
    family[0] = process(1, -1, "main");
    for (size_t i = 1; i < 124; i++)
        family[i] = process((pid_t)i + 1, 0, "small");
    family[0].cpu_seconds = family[0].peak_ram_bytes = 0;
    family[60] = process(61, 0, "parent");
    family[60].cpu_seconds = family[60].peak_ram_bytes = NAN;
    family[110] = process(111, 60, "busy");
    family[110].cpu_seconds = 100;
    family[120] = process(121, 60, "large");
    family[120].peak_ram_bytes = 9e9;
    struct gput_processes list = {.processes = family, .count = 124};
    char *text = summary_of(&list);
    assert_non_null(strstr(text, "  main(1)\n"));
    assert_non_null(strstr(text, "─ parent(61)\n"));
    assert_non_null(strstr(text, "├─ busy(111)\n"));
    assert_non_null(strstr(text, "└─ large(121)\n"));
    assert_int_equal(count_of(text, ")\n"), 20);
    assert_non_null(strstr(text, "\nand 104 more: -f full, or -f json\n"));
    free(text);
    text = tree_of(&list);
    assert_int_equal(count_of(text, ")\n"), 124);
    assert_null(strstr(text, " more"));
    free(text);
}

static void check_that_lines_fit(char *text, size_t screen)
{
    for (char *line, *rest = text; (line = strsep(&rest, "\n"));) {
        if (utf8_width(line) > screen)
            fail_msg("%zu columns on a screen of %zu: %s", utf8_width(line), screen, line);
    }
}

TEST(a_summary_fits_the_screen)
{
    struct gput_process family[] = {process(1, -1, "main"), process(21, 0, "data_loader_of_1"),
        process(22, 1, "a_name_of_a_few")};
    family[2].peak_gpu_ram_bytes = 1.2e9;
    family[2].command_line = "python train.py --with --so many --arguments that --they --are --cut";
    struct gput_processes list = {.processes = family,
        .count = 3,
        .start_ns = 99 * SECOND,
        .others = {.count = 7, .cpu_seconds = 0.5}};
    char *text = summary_on(&list, 92);
    assert_non_null(strstr(text,
        "Processes:\n"
        "   Start   Lived      CPU  Peak RAM  GPU RAM   Read  Written  Exit  Process\n"
        "  1.00 s  2.00 s  ≥1.50 s   5.00 MB      n/a  ≥10 B      n/a     0  main(1)\n"));
    assert_non_null(strstr(text, "  └─ data_loader_of_1(21)\n"));
    assert_non_null(strstr(text, "     └─ a_name_of_a_few(2…\n"));
    assert_null(strstr(text, "Not here"));
    free(text);
    text = summary_on(&list, 74);
    assert_non_null(strstr(text, "   Start   Lived      CPU  Peak RAM  GPU RAM  Exit  Process\n"));
    assert_non_null(strstr(text, "\nNot here: Read, Written (-f full)\n"));
    free(text);
    for (size_t screen = 40; screen <= 130; screen++) {
        text = summary_on(&list, screen);
        assert_non_null(strstr(text, "CPU  Peak RAM"));
        check_that_lines_fit(text, screen);
        free(text);
    }
}

/* The largest is deeper than a summary has rows: what leads there is shown from the top. */
TEST(a_summary_of_a_deep_chain_begins_at_its_top)
{
    struct gput_process chain[50];
    for (size_t i = 0; i < 50; i++)
        chain[i] = process((pid_t)i + 1, (ptrdiff_t)i - 1, "link");
    chain[49].cpu_seconds = 100;
    struct gput_processes list = {.processes = chain, .count = 50};
    char *text = summary_of(&list);
    assert_int_equal(count_of(text, ")\n"), 20);
    assert_non_null(strstr(text, "link(20)\nand 30 more:"));
    free(text);
}

TEST(programs_get_all_of_it)
{
    struct gput_process family[] = {process(1, -1, "main"), process(2, 0, "")};
    family[0].command_line = "main --all";
    struct gput_processes list = {.processes = family,
        .count = 2,
        .has_command_lines = true,
        .gpu_ram_unit = GPUT_RAM_UNIT_MEGABYTES,
        .others = {.count = 3, .cpu_seconds = 0.25, .peak_gpu_ram_bytes = 2e6}};
    family[0].peak_gpu_ram_bytes = 7e6;
    struct doc *doc = doc_create_object();
    processes_report_add(doc, &list);
    const struct doc *first = doc_get(doc, "processes")->first;
    assert_int_equal(doc_get(first, "pid")->integer, 1);
    assert_int_equal(doc_get(first, "parent")->kind, DOC_NULL);
    assert_string_equal(doc_get(first, "command_line")->string, "main --all");
    assert_string_equal(doc_get(first, "end_timestamp_source")->string, "final");
    assert_string_equal(doc_get(first, "at_least")->string, "cpu_seconds, bytes");
    assert_string_equal(doc_get(first, "peak_ram_source")->string, "final");
    assert_true(doc_get(first, "peak_gpu_ram")->number == 7);
    assert_int_equal(doc_get(first, "exit_status")->integer, 0);
    assert_int_equal(doc_get(first, "signal")->kind, DOC_NULL);
    assert_int_equal(doc_get(first, "write_bytes")->kind, DOC_NULL);
    assert_int_equal(doc_get(first->next, "name")->kind, DOC_NULL);
    assert_int_equal(doc_get(first->next, "command_line")->kind, DOC_NULL);
    const struct doc *others = doc_get(doc, "other_processes");
    assert_int_equal(doc_get(others, "count")->integer, 3);
    assert_true(doc_get(others, "cpu_seconds")->number == 0.25);
    assert_true(doc_get(others, "largest_peak_gpu_ram")->number == 2);
    doc_destroy(doc);
}

/* ---- Tables ---- */

static const struct gput_table *table_of(
    const struct gput_processes *list, const char *name, struct gput_tables **tables)
{
    assert_int_equal(gput_processes_tables(list, tables, NULL), GPUT_OK);
    return gput_tables_find(*tables, name);
}

TEST(each_process_is_a_row)
{
    struct gput_process family[] = {
        {.pid = 7,
            .name = "main",
            .command_line = "main -x",
            .start_ns = SECOND,
            .end_ns = 3 * SECOND,
            .cpu_seconds = 1.5,
            .peak_ram_bytes = 5e6,
            .peak = GPUT_PROCESS_PEAK_FINAL,
            .peak_gpu_ram_bytes = NAN,
            .read_bytes = 10,
            .has_status = true,
            .status = 0x700},
        {.pid = 8, .parent = 7, .peak_ram_bytes = NAN, .has_status = true, .status = 9},
    };
    struct gput_processes list = {.processes = family, .count = 2};
    struct gput_tables *tables;
    const struct gput_table *table = table_of(&list, "processes", &tables);
    assert_int_equal(gput_table_row_count(table), 2);
    assert_true(gput_table_is_missing(table, 0, column_of(table, "parent")));
    assert_int_equal(gput_table_int(table, 1, column_of(table, "parent")), 7);
    assert_string_equal(gput_table_text(table, 0, column_of(table, "command_line")), "main -x");
    assert_true(gput_table_is_missing(table, 1, column_of(table, "name")));
    assert_true(gput_table_double(table, 0, column_of(table, "end_timestamp")) == 3);
    assert_true(gput_table_is_missing(table, 1, column_of(table, "end_timestamp")));
    assert_int_equal(gput_table_int(table, 0, column_of(table, "peak_ram_bytes")), 5000000);
    assert_string_equal(gput_table_text(table, 0, column_of(table, "at_least")), "all");
    assert_true(gput_table_is_missing(table, 1, column_of(table, "at_least")));
    assert_string_equal(gput_table_text(table, 0, column_of(table, "peak_ram_source")), "final");
    assert_true(gput_table_is_missing(table, 0, column_of(table, "peak_gpu_ram_bytes")));
    assert_int_equal(gput_table_int(table, 0, column_of(table, "exit_status")), 7);
    assert_true(gput_table_is_missing(table, 0, column_of(table, "signal")));
    assert_true(gput_table_is_missing(table, 1, column_of(table, "exit_status")));
    assert_int_equal(gput_table_int(table, 1, column_of(table, "signal")), 9);
    gput_tables_destroy(tables);
}

TEST(the_others_are_summed_up)
{
    struct gput_processes list = {.others = {.count = 12, .cpu_seconds = 2.5, .read_bytes = NAN}};
    struct gput_tables *tables;
    const struct gput_table *table = table_of(&list, "other_processes", &tables);
    assert_true(gput_table_is_record(table));
    assert_int_equal(gput_table_int(table, 0, column_of(table, "count")), 12);
    assert_true(gput_table_double(table, 0, column_of(table, "cpu_seconds")) == 2.5);
    assert_true(gput_table_is_missing(table, 0, column_of(table, "read_bytes")));
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "processes")), 0);
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
