/* What is there before anything runs, and what a program with a context alone takes. */
#include "check_run.h"

#include <math.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* More use of a GPU than this, in percent, is not that of a driver at rest. */
#define MAX_REST_PERCENT 2
#define SPOILED                                                                                    \
    "memory in use on the GPU, utilization, power and energy are compared with the driver alone; " \
    "peaks have no upper bound"

static json_t *describe_machine(struct check *check)
{
    struct utsname system;
    char date[32] = "";
    time_t now = time(NULL);
    uname(&system);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime(&now));
    json_t *machine = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "gpu", check->nvml.name,
        "uuid", check->nvml.uuid, "driver", check->nvml.driver, "kernel", system.release, "machine",
        system.machine, "date", date, "user", geteuid() == 0 ? "root" : "not root", "stand-in",
        getenv("GPUT_NVML") ? "yes: no real GPU was used" : "no");
    nvml_reference_describe(&check->nvml, machine);
    return machine;
}

/* The record of another tool, for who reads the results; nothing is compared with it. */
static void keep_nvidia_smi(struct check *check)
{
    struct check_path path = check_path(check, "nvidia-smi.txt");
    const char *command[] = {"nvidia-smi", "-q", NULL};
    unlink(path.text);
    pid_t pid = programs_start(&check->programs, path.text, command);
    int status = programs_wait(&check->programs, pid, check->patience_s);
    if (status == 0)
        check_table_state(
            &check->table, "nvidia-smi -q is kept in nvidia-smi.txt", true, "not compared");
    else
        check_table_skip(&check->table, "nvidia-smi -q",
            status == 127 ? "it is not installed here" : check_failure(status));
}

/* Mean utilization in a second in which the check itself does nothing. */
static double rest_utilization(struct check *check)
{
    struct nvml_watch watch;
    if (!nvml_watch_start(&watch, &check->nvml))
        return NAN;
    monotonic_sleep_until(monotonic_now_ns() + NS_PER_S);
    nvml_watch_stop(&watch);
    double percent = nvml_watch_mean_utilization(&watch, 0, INFINITY);
    nvml_watch_finish(&watch);
    return percent;
}

static void find_others(struct check *check)
{
    double percent = rest_utilization(check);
    check_table_note(&check->table, "in use before the check", "bytes", check->nvml.used_before);
    check_table_note(&check->table, "utilization before the check", "percent", percent);
    check_table_note(&check->table, "processes listed before the check", "",
        check->nvml.n_before < 0 ? NAN : check->nvml.n_before);
    check->is_shared = check->nvml.n_before > 0 || percent > MAX_REST_PERCENT;
    if (check->is_shared)
        check_table_skip(&check->table, "other processes use this GPU", SPOILED);
}

static bool lists_pid(struct check *check, pid_t pid)
{
    struct nvml_process processes[MAX_LISTED];
    int count = nvml_reference_list(&check->nvml, processes, MAX_LISTED);
    for (int i = 0; i < count && i < MAX_LISTED; i++)
        if (processes[i].pid == pid)
            return true;
    return false;
}

static void read_context(struct check *check, pid_t load)
{
    double listed = nvml_reference_read(&check->nvml, NVML_PROCESSES) - check->nvml.bytes_before;
    check->context_used_bytes =
        nvml_reference_read(&check->nvml, NVML_MEMORY) - check->nvml.used_before;
    check->listing = !(listed > 0)            ? LISTS_NOTHING
                     : lists_pid(check, load) ? LISTS_PROCESS
                                              : LISTS_OTHER_PIDS;
    check->context_bytes = listed > 0 ? listed : check->context_used_bytes;
}

/* The first time the driver may still have to wake up, and to translate the kernel: only the second
 * counts. */
static bool learn_context(struct check *check)
{
    for (int run = 0; run < 2; run++) {
        uint64_t start_ns = monotonic_now_ns();
        pid_t load = check_start_load(check, "context wait 600000");
        bool is_there = check_await_steps(check, load, "context", 1);
        check->context_s = (double)(monotonic_now_ns() - start_ns) / 1e9;
        if (is_there)
            read_context(check, load);
        programs_end(&check->programs, load);
        if (!is_there)
            return false;
        check_await_rest(check);
        if (!check->is_shared)
            check->nvml.used_before = nvml_reference_read(&check->nvml, NVML_MEMORY);
    }
    return true;
}

static void note_listing(struct check *check)
{
    static const char *const texts[] = {
        [LISTS_NOTHING] =
            "no: rows of processes are skipped where gpu-tracker says why, and what a "
            "context takes is the rise of the memory in use",
        [LISTS_OTHER_PIDS] = "by the pid of another namespace: rows of processes are skipped where "
                             "gpu-tracker says why",
        [LISTS_PROCESS] = "yes",
    };
    if (check->listing == LISTS_PROCESS)
        check_table_state(
            &check->table, "the driver lists our processes", true, texts[check->listing]);
    else
        check_table_skip(&check->table, "the driver lists our processes", texts[check->listing]);
}

void trial_preparation(struct check *check)
{
    check->machine = describe_machine(check);
    check_table_begin(&check->table, "Preparation");
    keep_nvidia_smi(check);
    find_others(check);
    bool is_known = learn_context(check);
    check->has_context = is_known;
    check_table_state(&check->table, "a program can use the GPU", is_known,
        is_known ? NULL : "see log.txt, and the compute mode above");
    if (!is_known)
        return;
    note_listing(check);
    check_table_note(&check->table, "a context, as the list has it", "bytes", check->context_bytes);
    check_table_note(
        &check->table, "memory in use, more by a context", "bytes", check->context_used_bytes);
    check_table_note(&check->table, "time until it is there", "s", check->context_s);
}
