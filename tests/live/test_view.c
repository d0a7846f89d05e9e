#include "testing.h"

#include "live/fake_snapshot.h"
#include "live/keys.h"
#include "live/layout.h"
#include "live/view.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static struct view view;
static struct grid grid;
static struct gput_snapshot snapshot;
static struct gput_snapshot_process processes[500];
static struct gput_snapshot_gpu gpus[3];
#define UNKNOWN                                                                                    \
    {                                                                                              \
        .now = { NAN, NAN, NAN, NAN, NAN, NAN, NAN }                                               \
    }

static struct machine machine = UNKNOWN;
static struct gput_results results = {.max = 5e9, .joules = 1234, .cores = 8, .ram = 16e9};

static void take(double seconds)
{
    snapshot.elapsed_seconds = seconds;
    view_figures_add(&view.figures, &snapshot, &results, &machine);
    process_rows_take(&view.processes, &snapshot, 0.5);
}

static int set_up(void **state)
{
    (void)state;
    static const char *const names[] = {"python", "\033[2J\033]0;x\a", "\xe4\xb8\xad\xe6\x96\x87",
        "\xe2\x80\xae\xd7\x90\xd7\x91", "a name that is as long as it can be, and longer",
        "\xff\xfe"};
    view = (struct view){.title = "train.py --epochs 3", .runs_command = true};
    snapshot = (struct gput_snapshot){
        .processes = processes, .n_processes = 500, .watts = 45, .gpus = gpus, .n_gpus = 3};
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        snapshot.sample.values[i] = 1e9;
    snapshot.sample.values[GPUT_COMBINED_SWAPPED_RAM] = 0;
    snapshot.sample.values[GPUT_CPU_COMBINED_SUM] = 250;
    for (int i = 0; i < 3; i++) {
        gpus[i] = (struct gput_snapshot_gpu){.utilization_percent = 93,
            .ram_bytes = 12e9,
            .ram_capacity_bytes = 80e9,
            .power_watts = 345,
            .power_limit_watts = NAN,
            .temperature_celsius = NAN,
            .clock_mhz = NAN};
        strcpy(gpus[i].name, "NVIDIA H200");
    }
    for (int i = 0; i < 500; i++) {
        processes[i] = (struct gput_snapshot_process){.pid = 100 + i,
            .parent = i < 3 ? 1 : 100 + i / 3,
            .start_ticks = 7,
            .state = 'R',
            .cpu_percent = 500 - i,
            .ram_bytes = 1e6 * i,
            .private_ram_bytes = 5e5 * i,
            .gpu_ram_bytes = i % 2 ? NAN : 3e9,
            .threads = 1,
            .computing_seconds = NAN,
            .cpu_wait_seconds = NAN,
            .storage_seconds = NAN};
        snprintf(processes[i].name, sizeof processes[i].name, "%s", names[i % 6]);
    }
    take(1);
    return grid_resize(&grid, 80, 24) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    view_finish(&view);
    grid_finish(&grid);
    return 0;
}

/* A row as text, without the blanks at its end. */
static const char *row(int index)
{
    static char text[512];
    int end = grid.columns;
    size_t length = 0;
    const struct cell *cells = &grid.cells[index * grid.columns];
    while (end > 0 && cells[end - 1].code == ' ')
        end--;
    for (int i = 0; i < end; i++)
        text[length++] = cells[i].code < 127 ? (char)cells[i].code : '#';
    text[length] = '\0';
    return text;
}

static bool shows(const char *text)
{
    view_draw(&view, &grid);
    for (int i = 0; i < grid.rows; i++)
        if (strstr(row(i), text))
            return true;
    return false;
}

#define WITH_VIEW(name) TEST_WITH(name, set_up, tear_down)

WITH_VIEW(figures_have_now_and_peak)
{
    assert_true(shows("CPU           2.50"));
    assert_true(shows("of 8 cores"));
    assert_true(shows("RAM        1.00 GB   5.00 GB"));
    assert_true(shows("of 16.0 GB"));
    assert_true(shows("45.0 W"));
    assert_true(shows("1.23 kJ so far"));
    assert_true(shows("500 processes"));
    assert_true(shows("GPU 0         93 %      93 %"));
    assert_true(shows("12.0 of 80.0 GB"));
    assert_true(shows("train.py --epochs 3"));
}

WITH_VIEW(without_a_share_the_power_is_the_machines)
{
    view.figures.knows_share = false;
    snapshot.watts = NAN;
    snapshot.machine_watts = 222;
    take(2);
    assert_true(shows("Machine      222 W"));
    assert_true(shows("1.23 kJ so far"));
    snapshot.watts = 45;
    take(3);
    assert_true(shows("Power       45.0 W    45.0 W"));
    assert_false(shows("Machine"));
    snapshot.watts = NAN;
    take(4);
    assert_true(shows("Power            -    45.0 W"));
}

/* A character of a figure's curve: the last one, in the lowest of its rows. */
static uint32_t last_of_curve(int figure)
{
    view_draw(&view, &grid);
    struct layout_figure at = layout_make_figure(view.layout.main_columns, false);
    int row = view.layout.figures_row + (figure + 1) * view.layout.figure_rows - 1;
    return grid.cells[row * grid.columns + at.curve + at.curve_columns - 1].code;
}

WITH_VIEW(a_full_curve_and_bar_are_all_there_is)
{
    results.max = snapshot.sample.values[GPUT_CPU_COMBINED_SUM] = 800;
    take(2);
    assert_int_equal(last_of_curve(FIGURE_CPU), view.layout.figure_rows > 1 ? 0x2588 : 0x2587);
    assert_true(shows("CPU           8.00      8.00  ##########"));
    snapshot.sample.values[GPUT_CPU_COMBINED_SUM] = 0.2;
    take(100);
    assert_true(shows("CPU           0.00      8.00  #####"));
    assert_int_equal(last_of_curve(FIGURE_CPU), 0x2581);
    assert_int_equal(view.layout.figure_rows, 1);
    assert_int_equal(last_of_curve(FIGURE_RAM), 0x2581); /* 1 of 16 GB, and never more */
    snapshot.sample.values[GPUT_COMBINED_RAM] = 9e8;
    take(101);
    view_key(&view, 'z', 0, 0);
    results.max = 5e9;
    assert_int_equal(last_of_curve(FIGURE_RAM), 0x2587);
}

WITH_VIEW(the_card_says_how_hot_and_fast_it_is_and_what_slows_it)
{
    gpus[0].power_limit_watts = 700;
    gpus[0].temperature_celsius = 64;
    gpus[0].slowdown_celsius = 90;
    gpus[0].clock_mhz = 1980;
    strcpy(gpus[0].slowed_by, "power_cap");
    take(2);
    assert_true(grid_resize(&grid, 220, 30));
    assert_true(shows("345 of 700 W  64 #C  1.98 GHz  slowed by power_cap  NVIDIA H200"));
    assert_true(shows("  345 W  NVIDIA H200"));
}

WITH_VIEW(what_the_machine_does_is_next_to_the_rest_or_in_one_line)
{
    double cores[] = {0, 100};
    machine = (struct machine){.core_percents = cores,
        .n_cores = 2,
        .now = {.swap_bytes = 1e9,
            .swap_capacity_bytes = 4e9,
            .disk_bytes_a_second = 12e6,
            .network_bytes_a_second = NAN,
            .cpu_wait_percent = 45,
            .storage_wait_percent = 0,
            .memory_wait_percent = NAN}};
    take(2);
    assert_true(shows("Cores ##  CPU wait 45 %  Storage wait 0 %  Swap 1.00 GB  Disks 12.0 MB/s"));
    assert_true(grid_resize(&grid, 200, 60));
    assert_true(shows("Storage wait        0 %"));
    assert_true(shows("Swap            1.00 GB"));
    assert_false(shows("Memory wait"));
    assert_false(shows("Network"));
    /* As many as there are rows for: none is drawn over what is below. */
    snapshot.n_gpus = 0;
    machine.now.network_bytes_a_second = machine.now.memory_wait_percent = 1;
    take(3);
    assert_true(grid_resize(&grid, 200, 16));
    assert_true(shows("Swap            1.00 GB"));
    assert_false(shows("Disks"));
    assert_false(shows("Network"));
    /* 400 cores, of which every second one works, are as many halves as there are columns. */
    static double many[400];
    for (int i = 0; i < 400; i++)
        many[i] = i % 2 * 100;
    machine.core_percents = many;
    machine.n_cores = 400;
    take(4);
    view_draw(&view, &grid);
    const struct cell *cells = &grid.cells[view.layout.heading_row * grid.columns];
    for (int i = view.layout.main_columns + 2 + 13; i < grid.columns; i++)
        assert_in_range(cells[i].code, 0x2583, 0x2585);
    machine = (struct machine)UNKNOWN;
}

WITH_VIEW(memory_in_swap_is_shown_once_there_is_some)
{
    take(2);
    assert_false(shows("In swap"));
    snapshot.sample.values[GPUT_COMBINED_SWAPPED_RAM] = 3e9;
    take(3);
    assert_true(shows("In swap"));
    assert_true(shows("3.00 GB"));
}

WITH_VIEW(what_processes_do_is_a_bar_and_words)
{
    assert_false(shows("asleep"));
    for (int i = 0; i < 500; i++)
        processes[i].computing_seconds = processes[i].cpu_wait_seconds =
            processes[i].storage_seconds = 0;
    take(2);
    processes[0].computing_seconds = processes[0].cpu_wait_seconds = 0.25;
    processes[0].activity = "computing";
    processes[1].activity = "pipe";
    processes[1].state = 'S';
    processes[2].state = 'D';
    snapshot.n_processes = 3;
    for (int i = 0; i < 100; i++) { /* means of some seconds */
        processes[0].computing_seconds += 0.125;
        processes[0].cpu_wait_seconds += 0.25;
        take(3 + i);
    }
    assert_true(shows("25 % computing  50 % waiting for a CPU  25 % asleep"));
    assert_true(shows("100 CPU wait"));
    assert_true(shows("101 pipe"));
    assert_true(shows("102 storage"));
    processes[1].activity = NULL;
    processes[0].activity = NULL;
}

WITH_VIEW(one_can_look_back_and_go_on)
{
    for (int i = 2; i <= 100; i++) {
        snapshot.sample.values[GPUT_CPU_COMBINED_SUM] = 10 * i;
        take(i);
    }
    assert_true(shows("CPU          10.00"));
    assert_true(shows("  345 W") && shows("so far") && shows("500 processes"));
    assert_int_equal(view_key(&view, '<', 0, 0), VIEW_GO_BACK);
    assert_true(shows("CPU           8.50"));
    /* What is known of now alone is not said of then. */
    assert_false(shows("  345 W") || shows("so far") || shows("500 processes"));
    assert_true(shows("held  1 min 25 s"));
    take(120); /* and the moment stays */
    assert_true(shows("CPU           8.50"));
    assert_int_equal(view_key(&view, KEY_WHEEL_UP, 1, 0), VIEW_GO_BACK);
    assert_true(shows("CPU           7.00"));
    for (int i = 0; i < 10; i++)
        view_key(&view, '>', 0, 0);
    assert_true(shows("  2 min"));
    assert_false(shows("held"));
    view.figures.elapsed_seconds = 5;
    view_key(&view, '<', 0, 0);
    assert_true(shows("held  1 s")); /* not before the beginning */
    view_key(&view, '>', 0, 0);
    view.figures.elapsed_seconds = 120;
    view_key(&view, 'p', 0, 0);
    take(130);
    assert_true(shows("held  2 min"));
    view_key(&view, 'p', 0, 0);
    assert_true(shows("  2 min 10 s"));
}

WITH_VIEW(the_mouse_selects_sorts_scrolls_and_presses_keys)
{
    view_draw(&view, &grid);
    int table = view.layout.table_row;
    view_key(&view, KEY_CLICK, table + 3, 10);
    assert_int_equal(view.processes.selected, 2);
    view_key(&view, KEY_WHEEL_DOWN, table + 1, 10);
    assert_int_equal(view.processes.selected, 5);
    view_key(&view, KEY_CLICK, table, view.table.start[TABLE_RAM] + 2);
    assert_int_equal(view.processes.sort, SORT_RAM);
    view_key(&view, KEY_CLICK, table, view.table.start[TABLE_DOING] + 2);
    assert_int_equal(view.processes.sort, SORT_RAM);
    view_key(&view, KEY_CLICK, grid.rows - 1, 9);
    assert_int_equal(view.mode, VIEW_HELP);
    view_key(&view, 'q', 0, 0);
    assert_int_equal(view_key(&view, KEY_CLICK, grid.rows - 1, 0), VIEW_CLOSE);
    /* Where a text is shown in place of the keys, there is nothing to press. */
    strcpy(view.processes.filter, "python");
    process_rows_arrange(&view.processes);
    view_draw(&view, &grid);
    assert_int_equal(view_key(&view, KEY_CLICK, grid.rows - 1, 0), VIEW_NOTHING);
    view.processes.filter[0] = '\0';
    process_rows_arrange(&view.processes);
    assert_int_equal(view_key(&view, KEY_CLICK, 500, 500), VIEW_NOTHING);
}

WITH_VIEW(each_gpu_says_who_uses_it)
{
    static struct gput_snapshot_gpu_user users[3][2] = {
        {{100, 8e9}, {101, 2.5e9}}, {{0}}, {{103, NAN}}};
    strcpy(processes[1].name, "worker");
    snapshot.users = users;
    take(2);
    assert_true(grid_resize(&grid, 220, 30));
    assert_true(shows("345 W  python 100 8.00 GB, worker 101 2.50 GB  NVIDIA H200"));
    assert_true(shows("345 W  NVIDIA H200"));
    snapshot.n_gpus = 1;
    take(3);
    assert_true(shows("345 W  python 100, worker 101  NVIDIA H200"));
    snapshot.users = NULL;
}

WITH_VIEW(what_is_not_known_is_a_dash)
{
    snapshot.sample.values[GPUT_CPU_COMBINED_SUM] = NAN;
    processes[0].cpu_percent = NAN;
    take(2);
    assert_true(shows("CPU              -"));
}

/* Whatever the size and the names: cells are glyphs, and wide ones are whole. */
WITH_VIEW(every_size_is_drawn_harmlessly)
{
    static struct open_block block = {.name = "\033[31mevil", .process_id = 7, .calls = 1};
    static const struct open_blocks blocks = {.blocks = &block, .count = 1};
    struct transcript transcript;
    assert_true(transcript_init(&transcript));
    transcript_add(&transcript, "output\r\n", 8);
    view.blocks = &blocks;
    for (int mode = 0; mode < 4; mode++) {
        view.processes.is_tree = mode & 1;
        view.output = mode & 2 ? &transcript : NULL;
        process_rows_arrange(&view.processes);
        for (int columns = 1; columns <= 200; columns += columns < 45 ? 1 : 31)
            for (int rows = 1; rows <= 60; rows += rows < 20 ? 1 : 11) {
                assert_true(grid_resize(&grid, columns, rows));
                view_draw(&view, &grid);
                for (int i = 0; i < columns * rows; i++) {
                    const struct cell *cell = &grid.cells[i];
                    assert_true(cell->columns == 0 || cell->code >= ' ');
                    assert_false(cell->code >= 0x7F && cell->code < 0xA0);
                    assert_true(
                        cell->columns < 2 || (i % columns + 1 < columns && cell[1].columns == 0));
                }
            }
    }
    transcript_finish(&transcript);
}

WITH_VIEW(keys_sort_filter_and_fold)
{
    assert_true(shows("sort: CPU"));
    view_key(&view, 's', 0, 0);
    assert_true(shows("sort: RAM"));
    view_key(&view, KEY_LEFT, 0, 0);
    assert_true(shows("sort: CPU"));
    view_key(&view, '/', 0, 0);
    view_key(&view, '1', 0, 0);
    view_key(&view, '0', 0, 0);
    view_key(&view, '9', 0, 0);
    view_key(&view, '9', 0, 0);
    view_key(&view, KEY_BACKSPACE, 0, 0);
    assert_true(shows("Filter: 109"));
    view_key(&view, KEY_ENTER, 0, 0);
    assert_true(shows("(1 of 500)"));
    view_key(&view, KEY_ESCAPE, 0, 0);
    assert_int_equal(view.processes.count, 500);
    view_key(&view, 't', 0, 0);
    view_key(&view, 'j', 0, 0);
    view_key(&view, ' ', 0, 0);
    assert_true(view.processes.count < 500);
    assert_true(shows("[+"));
    view_key(&view, '?', 0, 0);
    assert_true(shows("Any key: back"));
    view_key(&view, 'q', 0, 0);
    assert_int_equal(view_key(&view, 'q', 0, 0), VIEW_CLOSE);
}

WITH_VIEW(help_has_pages_where_it_is_higher_than_the_screen)
{
    static const char *const all[] = {"q ", "select a process", "sort by next, by previous",
        "fold or unfold a process", "signal a selected process", "hold the view; go on", "Ctrl-L",
        "a folded one: that or more", "not known"};
    size_t n_shown = 0, n_pages = 1;
    assert_true(grid_resize(&grid, 40, 10));
    view_key(&view, '?', 0, 0);
    for (; shows("Any key: more"); view_key(&view, 'n', 0, 0), n_pages++) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            n_shown += shows(all[i]);
    }
    assert_true(shows("Any key: back"));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        n_shown += shows(all[i]);
    assert_int_equal(n_shown, sizeof all / sizeof *all);
    assert_int_equal(n_pages, 3);
    view_key(&view, 'n', 0, 0);
    assert_true(shows("sort: CPU"));
    view_key(&view, '?', 0, 0);
    assert_true(shows("Any key: more"));
    view_key(&view, KEY_ESCAPE, 0, 0);
    assert_true(shows("sort: CPU"));
}

WITH_VIEW(a_deep_tree_has_branches_in_a_narrow_column)
{
    for (int i = 0; i < 500; i++)
        processes[i].parent = 99 + i;
    view.processes.is_tree = true;
    grid_resize(&grid, 40, 24);
    take(2);
    view_key(&view, KEY_END, 0, 0);
    view_draw(&view, &grid);
    /* Its own branch, then its name. */
    bool found = false;
    for (int i = 0; i < grid.rows * grid.columns; i++)
        found |= grid.cells[i].code == 0x2514 && grid.cells[i + 1].code == 0x2500 &&
                 grid.cells[i + 2].code == 'p';
    assert_true(found);
}

WITH_VIEW(a_signal_needs_a_selection_and_a_yes)
{
    assert_int_equal(view_key(&view, 'K', 0, 0), VIEW_NOTHING);
    assert_true(shows("Select a process first"));
    view_key(&view, KEY_DOWN, 0, 0);
    view_key(&view, 'K', 0, 0);
    assert_true(shows("Send SIGTERM to 100 python?  y yes  9 SIGKILL  2 SIGINT  other keys: no"));
    grid_resize(&grid, 40, 10);
    assert_true(shows("Signal 100? y TERM  9 KILL  2 INT"));
    grid_resize(&grid, 80, 24);
    take(2); /* rows may change meanwhile */
    assert_int_equal(view_key(&view, 'n', 0, 0), VIEW_NOTHING);
    view_key(&view, 'K', 0, 0);
    assert_int_equal(view_key(&view, KEY_ENTER, 0, 0), VIEW_NOTHING);
    view_key(&view, 'x', 0, 0);
    assert_int_equal(view_key(&view, 'y', 0, 0), VIEW_SEND_SIGNAL);
    assert_int_equal(view.signal_number, SIGTERM);
    assert_int_equal(view.signalled.pid, 100);
    assert_int_equal(view.signalled.start_ticks, 7);
    view_key(&view, 'K', 0, 0);
    assert_int_equal(view_key(&view, '9', 0, 0), VIEW_SEND_SIGNAL);
    assert_int_equal(view.signal_number, SIGKILL);
}

WITH_VIEW(the_selection_is_always_in_view)
{
    static const uint32_t keys[] = {
        KEY_END, KEY_UP, KEY_PAGE_UP, KEY_HOME, KEY_PAGE_DOWN, KEY_DOWN, KEY_END};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        view_key(&view, keys[i], 0, 0);
        view_draw(&view, &grid);
        assert_true(view.top <= view.processes.selected);
        assert_true(view.processes.selected < view.top + (size_t)view.page);
    }
    assert_int_equal(view.processes.selected, 499);
    snapshot.n_processes = 2;
    take(3);
    view_draw(&view, &grid);
    assert_int_equal(view.top, 0);
    view_key(&view, KEY_ESCAPE, 0, 0);
    assert_null(process_rows_selected(&view.processes));
}

WITH_VIEW(large_output_is_scrolled_and_stays_there)
{
    struct transcript transcript;
    assert_true(transcript_init(&transcript));
    view.output = &transcript;
    for (int i = 100; i < 200; i++) {
        char line[16];
        transcript_add(&transcript, line, (size_t)snprintf(line, sizeof line, "line %d\r\n", i));
    }
    view_key(&view, KEY_UP, 0, 0);
    assert_true(shows("line 199"));
    view_key(&view, 'o', 0, 0);
    assert_true(shows("line 199"));
    view_key(&view, 'k', 0, 0);
    assert_true(shows("1 line below"));
    assert_false(shows("line 199"));
    transcript_add(&transcript, "more\r\n", 6);
    assert_true(shows("line 198"));
    assert_false(shows("more"));
    view_key(&view, KEY_HOME, 0, 0);
    assert_true(shows("line 100"));
    view_key(&view, KEY_PAGE_DOWN, 0, 0);
    assert_false(shows("line 100"));
    view_key(&view, KEY_END, 0, 0);
    assert_true(shows("more"));
    assert_false(shows("below"));
    view_key(&view, 'k', 0, 0);
    view_key(&view, 'o', 0, 0);
    assert_true(shows("more"));
    transcript_finish(&transcript);
    view.output = NULL;
}

WITH_VIEW(a_line_is_typed_for_the_command)
{
    view_key(&view, 'i', 0, 0); /* its input is not this terminal */
    assert_int_equal(view.mode, VIEW_NORMAL);
    view.takes_input = true;
    view_key(&view, 'i', 0, 0);
    view_key(&view, 'q', 0, 0);
    view_key(&view, 0xE9, 0, 0);
    view_key(&view, '\033' - 1, 0, 0);
    assert_true(shows("To the command: q"));
    assert_int_equal(view_key(&view, KEY_ENTER, 0, 0), VIEW_SEND_INPUT);
    assert_string_equal(view.input, "q\xc3\xa9");
}

RUN_TESTS(NULL, NULL)
