/* The summary that people read. */
#include "results.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct gput_results training(void)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.static_data.ram_system_capacity_bytes = 64e9;
    results.static_data.allowed_ram_bytes = 8e9;
    results.identity.exit_status = results.identity.signal = NAN;
    results.static_data.allowed_cores = 4;
    results.static_data.system_core_count = 64;
    results.elapsed_seconds = 192;
    results.max[GPUT_COMBINED_RAM] = 6e9;
    results.max[GPUT_MAIN_RAM] = 5e9;
    results.max[GPUT_DESCENDANTS_RAM] = 1.2e9;
    results.max[GPUT_COMBINED_THREADS] = 24;
    results.peaks.combined.at_most_bytes = 6.05e9;
    results.accounting = (struct gput_accounting){
        .kernel_cpu_seconds = 700,
        .kernel_user_cpu_seconds = 680,
        .kernel_system_cpu_seconds = 20,
        .captured_percent = 99.5,
        .processes_seen = 9,
        .read_bytes = 1.7e9,
        .write_bytes = 12e6,
        .storage_read_bytes = 0,
        .storage_write_bytes = NAN,
    };
    results.n_gpus = 1;
    results.gpus = test_gpus;
    memset(test_gpus, 0, sizeof test_gpus);
    results.gpus[0] = (struct gput_gpu){
        .name = "NVIDIA H200",
        .selected = true,
        .ram_capacity_bytes = 150e9,
        .max_ram_bytes = 12e9,
        .max_combined_ram_bytes = 11.2e9,
        .mean_utilization_percent = 85,
        .max_utilization_percent = 98,
        .mean_power_watts = 310.4,
    };
    results.energy.machine.total = 65e3;
    results.energy.combined = 60e3;
    results.energy.mean_watts = 338;
    results.energy.co2e_grams = NAN;
    results.n_sources = 3;
    results.sources[0] = (struct gput_source){"kernel_cpu_time", GPUT_SOURCE_EXACT, "wait4"};
    results.sources[1] = (struct gput_source){"cpu_energy", GPUT_SOURCE_UNAVAILABLE, "no RAPL"};
    results.sources[2] = (struct gput_source){"gpu_power", GPUT_SOURCE_UNAVAILABLE, "no driver"};
    return results;
}

static char *summarize(
    const struct gput_results *results, const struct gput_results_render_options *options)
{
    struct gput_error error = {0};
    char *text;
    if (gput_results_render(results, options, GPUT_FORMAT_SUMMARY, &text, NULL, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return text;
}

TEST(all_lines_of_a_training_run)
{
    struct gput_results results = training();
    const char *const command[] = {"python", "train.py", "--name", "two words", NULL};
    char *text = summarize(&results,
        &(struct gput_results_render_options){.size = sizeof(struct gput_results_render_options),
            .command = command,
            .has_status = true});
    assert_string_equal(text,
        "gpu-tracker: python train.py --name 'two words'\n"
        "  Time         3 min 12 s  exit status 0\n"
        "  GPU 0           11.2 GB  peak of 150 GB; busy: mean 85 %, max 98 %; 310 W  NVIDIA "
        "H200\n"
        "  CPU         11 min 40 s  3.6 of 4 cores allowed (machine: 64); user 11 min 20 s, system "
        "20 s\n"
        "  RAM                6 GB  peak, 75 % of the allowed 8 GB (machine: 64 GB); main 5 GB, "
        "children 1.2 GB\n"
        "  Energy            60 kJ  of the 65 kJ of CPU packages, DRAM and GPUs; mean power 338 W\n"
        "  I/O              1.7 GB  read, 12 MB written (files and pipes)\n"
        "  Processes             9  24 threads seen at once\n"
        "  Not measured  CPU energy, GPU power (why: -f full, gpu-tracker doctor)\n");
    free(text);
}

TEST(a_process_that_was_running_is_named)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    options.attached = "is still running";
    strcpy(results.identity.command, "/bin/train\u202e\n\033x");
    results.identity.pid = 4711;
    char *text = summarize(&results, &options);
    const char *begin = "gpu-tracker: /bin/train? ?x, pid 4711\n"
                        "  Time         3 min 12 s  the process is still running\n";
    assert_memory_equal(text, begin, strlen(begin));
    free(text);
    options.attached = "has ended";
    results.identity.exit_status = 3;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "  Time         3 min 12 s  exit status 3\n"));
    free(text);
    results.identity.exit_status = NAN;
    results.identity.signal = 9;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "  Time         3 min 12 s  killed by signal 9 (Killed)\n"));
    free(text);
    results.accounting.oom_killed = 1;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "killed by signal 9 (Killed): out of memory\n"));
    free(text);
    options.width = 25;
    text = summarize(&results, &options);
    begin = "gpu-tracker: /…, pid 4711\n";
    assert_memory_equal(text, begin, strlen(begin));
    free(text);
    results.identity.command[0] = '\0';
    text = summarize(&results, &options);
    begin = "gpu-tracker: pid 4711\n";
    assert_memory_equal(text, begin, strlen(begin));
    free(text);
}

TEST(power_that_is_not_known_is_left_out)
{
    struct gput_results results = training();
    results.energy.mean_watts = NAN;
    char *text = summarize(&results, NULL);
    assert_non_null(strstr(text, "60 kJ  of the 65 kJ of CPU packages, DRAM and GPUs\n"));
    free(text);
}

TEST(a_command_without_energy_has_that_of_the_machine)
{
    struct gput_results results = training();
    results.energy.combined = 0;
    results.energy.machine.total = 60.3;
    results.energy.machine.package = results.energy.machine.dram = NAN;
    results.energy.machine.battery = NAN;
    results.energy.mean_watts = 59.9;
    char *text = summarize(&results, NULL);
    assert_non_null(
        strstr(text, "  Energy              0 J  this command; GPUs 60.3 J, mean 59.9 W\n"));
    free(text);
}

TEST(parts_of_little_cpu_time_are_no_gap)
{
    struct gput_results results = training();
    results.sources[1] = (struct gput_source){"cpu_split", GPUT_SOURCE_UNAVAILABLE, "few ticks"};
    results.sources[2] = (struct gput_source){"before_attaching", GPUT_SOURCE_UNAVAILABLE, "late"};
    char *text = summarize(&results, NULL);
    assert_non_null(
        strstr(text, "  Not measured  user and system time, what came before attaching (why:"));
    free(text);
    results.accounting.kernel_cpu_seconds = 0.009;
    text = summarize(&results, NULL);
    assert_non_null(strstr(text, "  Not measured  what came before attaching (why:"));
    free(text);
}

TEST(lower_bounds_say_so)
{
    struct gput_results results = training();
    results.sources[0].state = GPUT_SOURCE_SAMPLED;
    results.accounting.kernel_user_cpu_seconds = NAN;
    results.accounting.processes_missed = 2;
    results.peaks.combined.at_most_bytes = 7e9;
    char *text = summarize(&results, NULL);
    assert_non_null(strstr(text, "11 min 40 s  at least; 3.6 of 4 cores allowed (machine: 64)\n"));
    assert_non_null(strstr(text, "6 GB  peak (at most 7 GB), 75 %"));
    assert_non_null(strstr(text, "  9  at least; 24 threads seen"));
    results.peaks.combined.at_most_bytes = 6.2e9; /* too near to be worth a word */
    char *near = summarize(&results, NULL);
    assert_non_null(strstr(near, "6 GB  peak, 75 %"));
    free(near);
    results.peaks.combined.at_most_bytes = 9.1e9; /* too far to be worth a word */
    char *far = summarize(&results, NULL);
    assert_non_null(strstr(far, "6 GB  peak (at least), 75 %"));
    free(far);
    results.peaks.combined.at_most_bytes = NAN; /* no upper bound */
    char *unbounded = summarize(&results, NULL);
    assert_non_null(strstr(unbounded, "6 GB  peak (at least), 75 %"));
    free(unbounded);
    results.static_data.allowed_ram_bytes = 64e9; /* far from that, it matters to nobody */
    char *little = summarize(&results, NULL);
    assert_non_null(strstr(little, "6 GB  peak, 9 %"));
    free(little);
    assert_null(strstr(text, "each at least"));
    free(text);
    results.sources[2] = (struct gput_source){"counts", GPUT_SOURCE_SAMPLED, "at least: …"};
    text = summarize(&results, NULL);
    assert_non_null(strstr(text, "read, 12 MB written, each at least (files and pipes)\n"));
    free(text);
}

TEST(what_is_missing_is_left_out_or_said)
{
    struct gput_results results = training();
    results.accounting.kernel_cpu_seconds = results.accounting.sampled_cpu_seconds = NAN;
    results.sources[0].state = GPUT_SOURCE_UNAVAILABLE;
    snprintf(results.sources[0].reason, sizeof results.sources[0].reason, "it is not counted");
    results.gpus[0].max_combined_ram_bytes = NAN;
    results.gpus[0].max_utilization_percent = NAN;
    results.gpus[0].mean_power_watts = NAN;
    results.energy.combined = results.energy.machine.package = results.energy.machine.dram = NAN;
    results.energy.machine.battery = NAN;
    results.static_data.ram_system_capacity_bytes = results.static_data.allowed_ram_bytes = NAN;
    char *text = summarize(&results, NULL);
    assert_non_null(strstr(text, "  RAM                6 GB  peak; main 5 GB, children 1.2 GB\n"));
    assert_non_null(strstr(text, "  CPU                 n/a  it is not counted\n"));
    assert_non_null(strstr(text, "  12 GB  peak, by whoever used it, of 150 GB  NVIDIA H200\n"));
    assert_non_null(strstr(text, "65 kJ  of GPUs; the command's share is not known\n"));
    free(text);
    results.energy.machine.battery = 65e3;
    text = summarize(&results, NULL);
    assert_non_null(strstr(text, "65 kJ  of the whole machine; the command's share"));
    results.energy.machine.total = NAN;
    free(text);
    text = summarize(&results, NULL);
    assert_null(strstr(text, "Energy  "));
    free(text);
    results.sources[1].state = GPUT_SOURCE_SAMPLED; /* counters that are in no total */
    text = summarize(&results, NULL);
    assert_non_null(strstr(text, "  Energy              n/a  no RAPL\n"));
    free(text);
}

TEST(all_gpus_have_one_form)
{
    struct gput_results results = training();
    results.n_gpus = 2;
    results.gpus[1] = results.gpus[0];
    snprintf(results.gpus[1].name, sizeof results.gpus[1].name, "NVIDIA B");
    struct gput_results_render_options options = {.size = sizeof options, .width = 84};
    char *text = summarize(&results, &options);
    assert_non_null(strstr(text, "11.2 GB  peak of 150 GB; busy 85 % (max 98 %); 310 W\n  GPU 1"));
    assert_null(strstr(text, "NVIDIA")); /* it fits in one of the lines */
    free(text);
    options.width = 120;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "310 W  NVIDIA H200\n"));
    assert_non_null(strstr(text, "310 W  NVIDIA B\n"));
    free(text);
    results.gpus[1].max_utilization_percent = results.gpus[1].mean_power_watts = NAN;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "; busy n/a; power n/a  NVIDIA B\n"));
    free(text);
}

TEST(an_end_by_a_signal_or_a_limit_is_named)
{
    struct gput_results results = training();
    struct gput_results_render_options options = {
        .size = sizeof options, .has_status = true, .status = 9};
    char *text = summarize(&results, &options);
    assert_non_null(strstr(text, "3 min 12 s  killed by signal 9 (Killed)\n"));
    free(text);
    results.limit = (struct gput_limit_passed){.kind_name = "ram", .enforced = true};
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "3 min 12 s  ended: ram limit exceeded\n"));
    free(text);
}

TEST(a_hostile_command_cannot_reach_the_terminal)
{
    struct gput_results results = training();
    const char *const command[] = {
        "a\033]0;x\007\n\177", "\xff", "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", NULL};
    char *text = summarize(
        &results, &(struct gput_results_render_options){
                      .size = sizeof(struct gput_results_render_options), .command = command});
    const char expected[] = "gpu-tracker: 'a?]0;x? ?' '?' '";
    assert_memory_equal(text, expected, sizeof expected - 1);
    free(text);
    text = summarize(&results,
        &(struct gput_results_render_options){
            .size = sizeof(struct gput_results_render_options), .command = command, .width = 30});
    *strchr(text, '\n') = '\0';
    assert_string_equal(text, "gpu-tracker: 'a?]0;x? ?' '?' \xe2\x80\xa6");
    free(text);
}

TEST(a_missing_gpu_is_missing_once)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    results.sources[1] = (struct gput_source){"gpu", GPUT_SOURCE_UNAVAILABLE, "none"};
    results.sources[2] = (struct gput_source){"process_gpu_ram", GPUT_SOURCE_UNAVAILABLE, "none"};
    char *text = summarize(&results, &options);
    assert_non_null(strstr(text, "  Not measured  GPU (why: -f full, gpu-tracker doctor)\n"));
    free(text);
}

static void assert_lines_fit(const char *text, unsigned width)
{
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_in_range(strchr(line, '\n') - line, 1, width);
}

TEST(a_peak_of_ram_that_nothing_saw_is_no_zero)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    results.max[GPUT_MAIN_RAM] = results.max[GPUT_COMBINED_RAM] = NAN;
    results.max[GPUT_DESCENDANTS_RAM] = 0;
    results.peaks.combined.at_most_bytes = 926e3;
    char *text = summarize(&results, &options);
    assert_non_null(strstr(
        text, "  RAM                 n/a  it ended before its memory was read (at most 926 kB)\n"));
    free(text);
    results.peaks.combined.at_most_bytes = NAN;
    text = summarize(&results, &options);
    assert_non_null(
        strstr(text, "  RAM                 n/a  it ended before its memory was read\n"));
    free(text);
}

TEST(a_process_that_goes_on_has_what_its_samples_say)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    options.attached = "is still running";
    results.max[GPUT_COMBINED_RAM] = NAN;
    results.peaks.combined.at_most_bytes = NAN;
    results.sources[0].state = GPUT_SOURCE_UNAVAILABLE;
    results.accounting.kernel_cpu_seconds = NAN;
    results.accounting.kernel_user_cpu_seconds = NAN;
    results.accounting.sampled_cpu_seconds = 2.8;
    char *text = summarize(&results, &options);
    assert_non_null(strstr(text, "  CPU               2.8 s  at least; 0.01 of 4 cores allowed"));
    assert_non_null(strstr(text, "  RAM                 n/a  no sample saw its memory: each"));
    free(text);
}

TEST(a_process_that_was_left_running_is_counted)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    results.accounting.left_running = 2;
    char *text = summarize(&results, &options);
    assert_non_null(
        strstr(text, "  Processes             9  2 left running; 24 threads seen at once\n"));
    free(text);
    results.max[GPUT_COMBINED_THREADS] = NAN;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "  Processes             9  2 left running\n"));
    free(text);
    results.max[GPUT_COMBINED_THREADS] = 1;
    text = summarize(&results, &options);
    assert_non_null(strstr(text, "  Processes             9  2 left running; 1 thread\n"));
    free(text);
}

TEST(lines_are_broken_where_the_screen_ends)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    results.accounting.write_bytes = 123e6;
    options.width = 80;
    char *text = summarize(&results, &options);
    assert_non_null(strstr(text, "  RAM                6 GB  peak, 75 % of 8 GB allowed;\n"
                                 "                           main 5 GB, children 1.2 GB\n"));
    assert_non_null(
        strstr(text, "  CPU         11 min 40 s  3.6 of 4 allowed cores; user 11 min 20 s,"));
    assert_non_null(
        strstr(text, "  GPU 0           11.2 GB  peak of 150 GB; busy 85 % (max 98 %); 310 W\n"));
    assert_non_null(strstr(
        text, "  Energy            60 kJ  of 65 kJ of CPU packages, DRAM and GPUs; 338 W\n"));
    assert_non_null(
        strstr(text, "  I/O              1.7 GB  read, 123 MB written (files and pipes)\n"));
    assert_lines_fit(text, 80);
    free(text);
}

TEST(narrow_screens_have_what_belongs_to_a_figure_below_it)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    struct gput_gpu many[20];
    for (results.n_gpus = 0; results.n_gpus < 20; results.n_gpus++)
        many[results.n_gpus] = results.gpus[0];
    results.gpus = many;
    for (unsigned width = 30; width < 60; width++) {
        options.width = width;
        char *text = summarize(&results, &options);
        assert_lines_fit(text, width);
        free(text);
    }
    options.width = 30;
    char *text = summarize(&results, &options);
    assert_non_null(strstr(text, "  RAM                6 GB\n"
                                 "    peak, 75 % of 8 GB\n"
                                 "    allowed; main 5 GB,\n"
                                 "    children 1.2 GB\n"));
    free(text);
}

TEST(color_is_only_there_when_asked_for)
{
    struct gput_results results = training();
    char *text = summarize(&results, NULL);
    assert_null(strchr(text, '\033'));
    free(text);
    text =
        summarize(&results, &(struct gput_results_render_options){
                                .size = sizeof(struct gput_results_render_options), .color = true});
    assert_non_null(strstr(text, "\033[1m  3 min 12 s\033[0m"));
    free(text);
}

TEST(twenty_gpus_are_not_twenty_lines)
{
    struct gput_results results = training();
    struct gput_gpu many[20];
    for (results.n_gpus = 0; results.n_gpus < 20; results.n_gpus++)
        many[results.n_gpus] = results.gpus[0];
    results.gpus = many;
    char *text = summarize(&results, NULL);
    assert_non_null(strstr(text, "  GPU 7 "));
    assert_null(strstr(text, "  GPU 8 "));
    assert_non_null(strstr(text, "and 12 more: -f full\n"));
    free(text);
}

TEST(one_line_of_what_is_known_now)
{
    struct gput_results results = training();
    struct gput_results_render_options options = gput_results_render_options_default();
    struct gput_error error;
    char *line;
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        results.now.values[i] = NAN;
    results.now.values[GPUT_CPU_COMBINED_SUM] = 350;
    results.now.values[GPUT_COMBINED_RAM] = 412e6;
    results.now.values[GPUT_COMBINED_GPU_RAM] = 11.2e9;
    assert_int_equal(
        gput_results_render(&results, &options, GPUT_FORMAT_LINE, &line, NULL, &error), GPUT_OK);
    assert_string_equal(line, "3 min 12 s  3.5 cores  RAM 412 MB, peak 6 GB  GPU RAM 11.2 GB");
    free(line);
    options.width = 13;
    assert_int_equal(
        gput_results_render(&results, &options, GPUT_FORMAT_LINE, &line, NULL, &error), GPUT_OK);
    assert_string_equal(line, "3 min 12 s");
    free(line);
    options.width = 40;
    results.elapsed_seconds = 4;
    assert_int_equal(
        gput_results_render(&results, &options, GPUT_FORMAT_LINE, &line, NULL, &error), GPUT_OK);
    assert_string_equal(line, "4.0 s  3.5 cores  RAM 412 MB, peak 6 GB");
    free(line);
    options.width = 39;
    assert_int_equal(
        gput_results_render(&results, &options, GPUT_FORMAT_LINE, &line, NULL, &error), GPUT_OK);
    assert_string_equal(line, "4.0 s  3.5 cores  RAM 412 MB");
    free(line);
}

RUN_TESTS(NULL, NULL)
