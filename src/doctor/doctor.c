/*
 * Each source is a row of the table below, with a function that checks it. To add a source, add
 * both.
 */
#include "doctor/findings.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/energy/energy_counters.h"
#include "machine/energy/powercap.h"
#include "machine/gpu/gpu.h"
#include "machine/gpu/own_gpu_time.h"
#include "machine/os/cgroup.h"
#include "machine/os/cpu_clock.h"
#include "machine/os/own_cgroup.h"
#include "machine/os/proc_list.h"
#include "machine/os/proc_smaps.h"
#include "machine/os/procfs.h"
#include "machine/os/sysfs.h"
#include "machine/os/system_stat.h"
#include "model/session_options.h"

#include <gputracker/blocks.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long to wait for a slow GPU driver. */
#define GPU_TIMEOUT_SECONDS 10.0

/* Shared by all checks. */
struct view {
    const char *procfs_root, *sysfs_root;
    struct gpu_set *gpus;
    bool own_procfs; /* the pids of this procfs are those of our namespace */
};

/* Returns a pid of this procfs that exists and is readable: the calling process, or the first
 * one. */
static pid_t known_pid(const struct view *view)
{
    return view->own_procfs ? getpid() : 1;
}

static void set(struct gput_doctor_source *source, enum gput_doctor_state state, const char *remedy,
    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Sets the state of a source, the reason for it and the remedy. */
static void set(struct gput_doctor_source *source, enum gput_doctor_state state, const char *remedy,
    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(source->reason, sizeof source->reason, format, arguments);
    va_end(arguments);
    snprintf(source->remedy, sizeof source->remedy, "%s", remedy);
    source->state = state;
}

/* ---- processes ---- */

/* Checks that procfs can be read and shows this kernel. */
static void check_procfs(const struct view *view, struct gput_doctor_source *source)
{
    char kernel[64] = "";
    struct meminfo meminfo;
    struct gput_error error;
    char folder[512];
    snprintf(folder, sizeof folder, "%s/sys/kernel", view->procfs_root);
    if (meminfo_read(view->procfs_root, &meminfo, &error) != GPUT_OK) {
        set(source, GPUT_DOCTOR_UNAVAILABLE, "mount -t proc proc /proc, or set GPUT_PROCFS", "%s",
            error.message);
        return;
    }
    if (sysfs_read_line(folder, "osrelease", kernel, sizeof kernel))
        kernel[strcspn(kernel, "\n")] = '\0';
    set(source, GPUT_DOCTOR_AVAILABLE, "", "%s, Linux %s", view->procfs_root,
        kernel[0] ? kernel : "of unknown version");
}

/* Checks that the kernel lists the children of a thread. */
static void check_children(const struct view *view, struct gput_doctor_source *source)
{
    struct pid_vector children = {0};
    int code = proc_children_read(view->procfs_root, known_pid(view), 1, &children, NULL);
    pid_vector_finish(&children);
    if (code == GPUT_OK)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "children files of each thread");
    else
        set(source, GPUT_DOCTOR_PARTLY, "use a kernel with CONFIG_PROC_CHILDREN",
            "no children files: the tree is found by reading all of %s, which costs more",
            view->procfs_root);
}

/* Whether we may read the memory maps of other users' processes. */
static bool may_read_others(void)
{
    char text[PROCFS_TEXT_SIZE];
    const unsigned cap_sys_ptrace = 19;
    unsigned long long effective = 0;
    if (procfs_read("/proc", PROCFS_SYSTEM, "self/status", text, sizeof text, NULL, NULL) !=
        GPUT_OK)
        return false;
    const char *line = strstr(text, "\nCapEff:");
    return line && sscanf(line, "\nCapEff: %llx", &effective) == 1 &&
           (effective >> cap_sys_ptrace & 1);
}

/* Checks whose memory maps can be read; other users' smaps may be refused. */
static void check_memory_maps(const struct view *view, struct gput_doctor_source *source)
{
    struct proc_smaps_rollup rollup;
    struct gput_error error;
    int code = proc_smaps_rollup_read(view->procfs_root, known_pid(view), &rollup, &error);
    if (code != GPUT_OK)
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "RAM comes only from statm: %s", error.message);
    else if (may_read_others())
        set(source, GPUT_DOCTOR_AVAILABLE, "", "smaps of every process");
    else
        set(source, GPUT_DOCTOR_PARTLY, "run gpu-tracker as root",
            "smaps of your own processes; for those of other users only RSS from statm");
}

/* Checks that the CPU clocks of processes can be read. */
static void check_cpu_clocks(const struct view *view, struct gput_doctor_source *source)
{
    int64_t ns;
    if (!view->own_procfs)
        set(source, GPUT_DOCTOR_UNAVAILABLE, "mount -t proc proc /proc, or set GPUT_PROCFS",
            "%s is of another pid namespace: no command can be tracked with it; CPU time of an "
            "attached process comes from stat, in clock ticks",
            view->procfs_root);
    else if (cpu_clock_read(getpid(), &ns) != GPUT_OK)
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "the kernel gives no CPU clocks of processes");
    else
        set(source, GPUT_DOCTOR_AVAILABLE, "", "CPU clocks of processes, in nanoseconds");
}

/* Returns the version of control groups that a command would run in. */
static const char *versions_of(const struct own_cgroup *own)
{
    if (!own->v1.path)
        return "2";
    return own->v2.path ? "1 for memory, 2 for CPU time" : "1";
}

/* Checks that a control group can be made for a command. */
static void check_cgroup(const struct view *view, struct gput_doctor_source *source)
{
    struct cgroup here;
    struct own_cgroup own;
    struct gput_error error;
    int code = cgroup_find(view->procfs_root, view->sysfs_root, known_pid(view), &here, &error);
    if (code != GPUT_OK) {
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "%s", error.message);
        return;
    }
    own_cgroup_create(&own, &here, getpid());
    if (own.v1.path || own.v2.path)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "version %s; commands get a group of their own",
            versions_of(&own));
    else
        set(source, GPUT_DOCTOR_PARTLY,
            "systemd-run --user --scope -p Delegate=yes gpu-tracker run …, or run it as root",
            "limits and usage of gpu-tracker's own group; commands get no group of their own: %s",
            own.why_not);
    own_cgroup_remove(&own);
    cgroup_finish(&here);
}

/* ---- GPUs ---- */

/* Converts the state of a GPU source. */
static enum gput_doctor_state state_of(enum gpu_source_state state)
{
    switch (state) {
    case GPU_SOURCE_AVAILABLE:
        return GPUT_DOCTOR_AVAILABLE;
    case GPU_SOURCE_PARTIAL:
    case GPU_SOURCE_SUSPENDED:
        return GPUT_DOCTOR_PARTLY;
    default:
        return GPUT_DOCTOR_UNAVAILABLE;
    }
}

/* Reports that a source works but does not list the processes that use its GPUs. */
static void add_hidden_processes(const struct view *view, struct gput_doctor_source *source)
{
    size_t count, length = strlen(source->reason);
    const struct gpu_device *devices = gpu_set_devices(view->gpus, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(devices[i].source, source->name) != 0 || !gpu_set_hides_processes(view->gpus, i))
            continue;
        snprintf(source->reason + length, sizeof source->reason - length, "; of GPU %zu, %s", i,
            devices[i].missing[GPU_PROCESS_RAM]);
        snprintf(source->remedy, sizeof source->remedy,
            "start the container with --pid=host, or with -v /proc:/host/proc:ro");
        source->state = GPUT_DOCTOR_PARTLY;
        return;
    }
}

/* Checks a driver of GPUs, and whether it hides processes. */
static void check_gpus(const struct view *view, struct gput_doctor_source *source)
{
    size_t count;
    const struct gpu_source_status *statuses = gpu_set_sources(view->gpus, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(statuses[i].name, source->name) == 0)
            set(source, state_of(statuses[i].state), statuses[i].remedy, "%s", statuses[i].detail);
    add_hidden_processes(view, source);
}

/* Checks that AMD's compute driver lists its processes. */
static void check_kfd(const struct view *view, struct gput_doctor_source *source)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/class/kfd/kfd/proc", view->sysfs_root);
    if (access(path, R_OK | X_OK) == 0)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "%s", path);
    else
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "no %s: no AMD GPU, or no compute driver for it",
            path);
}

/* ---- energy ---- */

/* Checks that the energy counters of CPUs can be read through powercap. */
static void check_rapl(const struct view *view, struct gput_doctor_source *source)
{
    struct energy_counters energy;
    energy_counters_init(&energy, view->sysfs_root);
    char faults[160];
    size_t open = 0;
    energy_counters_explain(&energy, faults, sizeof faults);
    for (size_t i = 0; i < energy.powercap.count; i++)
        open += energy.powercap.zones[i].fd >= 0;
    if (open == 0)
        set(source, GPUT_DOCTOR_UNAVAILABLE, energy.remedy, "%s", energy.why_not);
    else if (faults[0])
        set(source, GPUT_DOCTOR_PARTLY, energy.remedy,
            "%zu of %zu counters in %s/class/powercap; %s", open,
            energy.powercap.count + energy.powercap.n_unnamed, view->sysfs_root, faults);
    else
        set(source, GPUT_DOCTOR_AVAILABLE, "", "%zu counters in %s/class/powercap", open,
            view->sysfs_root);
    energy_counters_finish(&energy);
}

/* Checks that the energy counters of CPUs can be read through perf. */
static void check_perf_energy(const struct view *view, struct gput_doctor_source *source)
{
    struct perf_energy perf;
    perf_energy_open(view->sysfs_root, &perf);
    if (perf.count > 0)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "%zu counters; used where powercap is refused",
            perf.count);
    else
        set(source, GPUT_DOCTOR_UNAVAILABLE,
            perf.refused ? "sudo sysctl kernel.perf_event_paranoid=0, or run gpu-tracker as root"
                         : "",
            "%s", perf.why_not);
    perf_energy_close(&perf);
}

/* Checks which counters the marks of code blocks can add. */
static void check_counters(const struct view *view, struct gput_doctor_source *source)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    struct gput_error error;
    (void)view;
    options.exact = options.counters = true;
    if (gput_blocks_check(&options, &error) == GPUT_OK)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "of all threads of your own, in user space");
    else
        set(source, GPUT_DOCTOR_UNAVAILABLE,
            error.code == GPUT_ERROR_PERMISSION ? "sudo sysctl kernel.perf_event_paranoid=2" : "",
            "%s", error.message);
}

/* Checks that code blocks can measure their own peak of RAM. */
static void check_block_peaks(const struct view *view, struct gput_doctor_source *source)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    struct gput_error error;
    (void)view;
    options.exact = options.block_peaks = true;
    if (gput_blocks_check(&options, &error) == GPUT_OK)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "/proc/self/clear_refs");
    else
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "%s", error.message);
}

/* Checks that code blocks can measure their GPU time. */
static void check_block_gpu_time(const struct view *view, struct gput_doctor_source *source)
{
    struct gput_error error;
    if (own_gpu_time_check(view->procfs_root, view->sysfs_root, &error) == GPUT_OK)
        set(source, GPUT_DOCTOR_AVAILABLE, "", "/proc/self/fdinfo");
    else
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "%s", error.message);
}

/* Checks that the power of a battery can be read. */
static void check_battery(const struct view *view, struct gput_doctor_source *source)
{
    double watts;
    struct gput_error error;
    if (battery_read(view->sysfs_root, &watts, &error) != GPUT_OK)
        set(source, GPUT_DOCTOR_UNAVAILABLE, "", "%s", error.message);
    else if (isnan(watts))
        set(source, GPUT_DOCTOR_PARTLY, "unplug the machine", "none is in use");
    else
        set(source, GPUT_DOCTOR_AVAILABLE, "", "%.1f W now", watts);
}

/* ---- everything ---- */

/* Parts of the summary. */
enum topic { TOPIC_NONE, TOPIC_CPU, TOPIC_RAM, TOPIC_GPU, TOPIC_ENERGY };

/* The sources in the order of the report: name, what they give, and the function that checks them.
 */
static const struct check {
    const char *name, *gives;
    void (*check)(const struct view *view, struct gput_doctor_source *source);
    enum topic topic;
} checks[] = {
    {"procfs", "processes, RSS, threads, CPU and RAM of the system", check_procfs, TOPIC_RAM},
    {"children", "the tree of processes", check_children, TOPIC_NONE},
    {"memory_maps", "private and shared RAM", check_memory_maps, TOPIC_NONE},
    {"cpu_clocks", "CPU time in nanoseconds", check_cpu_clocks, TOPIC_CPU},
    {"cgroup", "limits; CPU time and RAM peak of a whole command", check_cgroup, TOPIC_NONE},
    {"nvml", "NVIDIA GPUs", check_gpus, TOPIC_GPU},
    {"amdgpu", "AMD GPUs", check_gpus, TOPIC_GPU},
    {"kfd", "GPU RAM of ROCm processes", check_kfd, TOPIC_NONE},
    {"drm", "Intel and other GPUs", check_gpus, TOPIC_GPU},
    {"rapl", "energy of CPU packages and DRAM", check_rapl, TOPIC_ENERGY},
    {"perf_energy", "the same by perf events", check_perf_energy, TOPIC_ENERGY},
    {"block_counters", "instructions, cycles and cache misses of code blocks", check_counters,
        TOPIC_NONE},
    {"block_peaks", "the peak of RSS within code blocks", check_block_peaks, TOPIC_NONE},
    {"block_gpu_time", "GPU time of code blocks", check_block_gpu_time, TOPIC_NONE},
    {"battery", "power of a machine that runs on its battery", check_battery, TOPIC_NONE},
};

_Static_assert(sizeof checks / sizeof *checks <= DOCTOR_MAX_SOURCES, "space for each source");

/* Copies the identity and the state of each GPU. */
static int list_gpus(const struct view *view, struct gput_doctor *doctor, struct gput_error *error)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(view->gpus, &count);
    doctor->gpus = calloc(count + 1, sizeof *doctor->gpus);
    if (!doctor->gpus)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        struct gput_doctor_gpu *gpu = &doctor->gpus[doctor->n_gpus++];
        memcpy(gpu->uuid, devices[i].uuid, sizeof gpu->uuid);
        memcpy(gpu->name, devices[i].name, sizeof gpu->name);
        memcpy(gpu->pci_address, devices[i].pci_address, sizeof gpu->pci_address);
        memcpy(gpu->source, devices[i].source, sizeof gpu->source);
        snprintf(gpu->vendor, sizeof gpu->vendor, "%s", gpu_vendor_name(devices[i].vendor));
        gpu->ram_capacity_bytes = devices[i].ram_capacity_bytes;
        gpu_device_explain(&devices[i], GPU_FIGURE_COUNT, gpu->missing, sizeof gpu->missing);
        /* Write the card's current problems: "slowed by thermal; the driver asks for gpu_reset". */
        char trouble[CARD_REASONS_SIZE];
        gpu->health[0] = '\0';
        const struct card_reading *card = gpu_set_card(view->gpus, i);
        for (int k = 0; card_trouble(card, k, trouble, sizeof trouble); k++) {
            size_t length = strlen(gpu->health);
            if (trouble[0])
                text_fit(gpu->health + length, sizeof gpu->health - length, "%s%s",
                    length ? "; " : "", trouble);
        }
    }
    return GPUT_OK;
}

/* Returns the best state of the sources of a topic. `*closed`: the first one that is unavailable
 * but has a remedy. */
static enum gput_doctor_state topic_state(
    const struct gput_doctor *doctor, enum topic topic, const struct gput_doctor_source **closed)
{
    enum gput_doctor_state best = GPUT_DOCTOR_UNAVAILABLE;
    *closed = NULL;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        const struct gput_doctor_source *source = &doctor->sources[i];
        if (checks[i].topic != topic)
            continue;
        best = source->state < best ? source->state : best;
        if (!*closed && source->state == GPUT_DOCTOR_UNAVAILABLE && source->remedy[0])
            *closed = source;
    }
    return best;
}

/* Whether this is a virtual machine, according to the processor. */
static bool is_virtual_machine(const char *procfs_root)
{
    char path[4096];
    CLEANUP_STR struct str text = {0};
    snprintf(path, sizeof path, "%s/cpuinfo", procfs_root);
    return file_read_bounded(path, 1 << 20, &text, NULL) == GPUT_OK &&
           strstr(str_text(&text), " hypervisor") != NULL;
}

/* Writes the names of the GPUs: "NVIDIA H200", "8 x NVIDIA H200", "NVIDIA A and 1 more". */
static void name_gpus(const struct gput_doctor *doctor, char *text, size_t size)
{
    uint32_t same = 0;
    for (uint32_t i = 0; i < doctor->n_gpus; i++)
        same += strcmp(doctor->gpus[i].name, doctor->gpus[0].name) == 0;
    if (doctor->n_gpus == 1)
        text_fit(text, size, "%s", doctor->gpus[0].name);
    else if (same == doctor->n_gpus)
        text_fit(text, size, "%u x %s", same, doctor->gpus[0].name);
    else
        text_fit(text, size, "%s and %u more", doctor->gpus[0].name, doctor->n_gpus - 1);
}

/* Returns where joules come from, or why there are none. */
static const char *describe_energy(
    const struct view *view, const struct gput_doctor *doctor, char *text, size_t size)
{
    size_t count, with_power = 0;
    const struct gput_doctor_source *closed;
    const struct gpu_device *devices = gpu_set_devices(view->gpus, &count);
    for (size_t i = 0; i < count; i++)
        with_power += !devices[i].missing[GPU_POWER][0] || !devices[i].missing[GPU_ENERGY][0];
    enum gput_doctor_state cpu = topic_state(doctor, TOPIC_ENERGY, &closed);
    if (cpu == GPUT_DOCTOR_AVAILABLE)
        return "yes";
    if (cpu == GPUT_DOCTOR_PARTLY)
        return "partly";
    /* No energy of the CPU: say if GPUs have some, and which source only lacks rights. */
    snprintf(text, size, "%s%s%s", with_power ? "of GPUs" : "",
        with_power && closed ? "; CPU: " : "", closed ? "needs rights, see " : "");
    if (closed)
        strncat(text, closed->name, size - strlen(text) - 1);
    if (text[0])
        return text;
    return is_virtual_machine(view->procfs_root) ? "not on this VM" : "not on this machine";
}

/* Writes in one sentence what can be measured here. */
static void summarize(const struct view *view, struct gput_doctor *doctor)
{
    static const char *const words[] = {"yes", "partly", "no"};
    const struct gput_doctor_source *closed;
    enum gput_doctor_state cpu = topic_state(doctor, TOPIC_CPU, &closed),
                           ram = topic_state(doctor, TOPIC_RAM, &closed);
    char cpu_text[24] = "", gpu[128] = "none found", energy[64];
    if (cpu != ram)
        snprintf(cpu_text, sizeof cpu_text, ": %s. ", words[cpu]);
    enum gput_doctor_state gpus = topic_state(doctor, TOPIC_GPU, &closed);
    if (doctor->n_gpus > 0)
        name_gpus(doctor, gpu, sizeof gpu);
    else if (closed)
        snprintf(gpu, sizeof gpu, "driver does not work, see %s", closed->name);
    text_fit(doctor->summary, sizeof doctor->summary, "CPU%sRAM: %s. GPU: %s%s. Energy: %s.",
        cpu_text[0] ? cpu_text : ", ", words[ram], gpu,
        doctor->n_gpus > 0 && gpus == GPUT_DOCTOR_PARTLY ? " (partly)" : "",
        describe_energy(view, doctor, energy, sizeof energy));
}

/* Opens all sources as a session would, and checks each of them. */
static int examine(
    const struct gput_session_options *given, struct gput_doctor *doctor, struct gput_error *error)
{
    struct gput_session_options options;
    struct gput_limits limits;
    TRY(session_options_read(given, &options, &limits, error));
    struct view view = {
        .procfs_root = options.procfs_root ? options.procfs_root : "/proc",
        .sysfs_root = options.sysfs_root ? options.sysfs_root : "/sys",
    };
    const struct gpu_options gpu_options = {
        .procfs_root = view.procfs_root,
        .sysfs_root = view.sysfs_root,
        .nvml_path = options.nvml_path,
        .brand = options.gpu_brand,
    };
    view.own_procfs = cpu_clock_usable(view.procfs_root);
    doctor->ram_unit = options.gpu_ram_unit;
    TRY(gpu_set_open(&gpu_options, &view.gpus, error));

    /* Take one sample of this process, which shows the figures that each GPU lacks. */
    struct gpu_tree tree = {.main = getpid()};
    struct gpu_sample sample;
    gpu_set_request_lists(view.gpus, &tree, false);
    gpu_set_await_all(view.gpus, GPU_TIMEOUT_SECONDS);
    gpu_set_sample(view.gpus, &tree, &sample);

    /* Check the sources after the sample: it may have found that a driver hides processes. */
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct gput_doctor_source *source = &doctor->sources[doctor->n_sources++];
        snprintf(source->name, sizeof source->name, "%s", checks[i].name);
        snprintf(source->gives, sizeof source->gives, "%s", checks[i].gives);
        checks[i].check(&view, source);
    }
    int code = list_gpus(&view, doctor, error);
    if (code == GPUT_OK)
        summarize(&view, doctor);
    gpu_set_close(view.gpus);
    return code;
}

int gput_doctor_create(const struct gput_session_options *options, struct gput_doctor **doctor,
    struct gput_error *error)
{
    *doctor = NULL;
    struct gput_doctor *made = calloc(1, sizeof *made);
    int code = made ? examine(options, made, error) : error_memory(error);
    if (code == GPUT_OK)
        *doctor = made;
    else
        gput_doctor_destroy(made);
    return code;
}

void gput_doctor_destroy(struct gput_doctor *doctor)
{
    if (doctor)
        free(doctor->gpus);
    free(doctor);
}
