/*
 * What the energy of one sample costs, next to bare reads of the same files that it cannot do
 * without: two packages with core and DRAM each, and a platform, made of files in a temporary
 * folder. The real files of sysfs add the same time (the register's reading) to every row.
 */
#include "base/clock.h"
#include "base/file.h"
#include "machine/energy/energy_meter.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAMPLES 200000
#define COUNTERS 7

static const char *const zones[COUNTERS][2] = {
    {"intel-rapl:0", "package-0"},
    {"intel-rapl:0:0", "core"},
    {"intel-rapl:0:1", "dram"},
    {"intel-rapl:1", "package-1"},
    {"intel-rapl:1:0", "core"},
    {"intel-rapl:1:1", "dram"},
    {"intel-rapl:2", "psys"},
};

static char root[] = "/tmp/energy-sample-XXXXXX";

static void write_file(const char *zone, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/class/powercap/%s/%s", root, zone, file);
    FILE *stream = fopen(path, "w");
    if (!stream)
        exit(1);
    fprintf(stream, "%s\n", text);
    fclose(stream);
}

static void make_machine(void)
{
    char path[256];
    if (!mkdtemp(root))
        exit(1);
    snprintf(path, sizeof path, "%s/class", root);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/class/powercap", root);
    mkdir(path, 0755);
    for (int i = 0; i < COUNTERS; i++) {
        snprintf(path, sizeof path, "%s/class/powercap/%s", root, zones[i][0]);
        mkdir(path, 0755);
        write_file(zones[i][0], "name", zones[i][1]);
        write_file(zones[i][0], "max_energy_range_uj", "262143328850");
        write_file(zones[i][0], "energy_uj", "123456789012");
    }
}

/* A pread() and a number for each counter, and nothing else. */
static double bare_ns(void)
{
    char path[256], text[32];
    int fds[COUNTERS];
    volatile long long sum = 0;
    for (int i = 0; i < COUNTERS; i++) {
        snprintf(path, sizeof path, "%s/class/powercap/%s/energy_uj", root, zones[i][0]);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
    int64_t start = clock_process_cpu_ns();
    for (int i = 0; i < SAMPLES; i++) {
        for (int k = 0; k < COUNTERS; k++) {
            if (file_reread(fds[k], text, sizeof text) > 0)
                sum = sum + atoll(text);
        }
    }
    return (double)(clock_process_cpu_ns() - start) / SAMPLES;
}

static double meter_ns(void)
{
    struct energy_meter meter;
    energy_meter_init(&meter, root);
    struct energy_shares shares = {.machine_ram_bytes = 16e9, .combined_ram_bytes = 1e9};
    int64_t start = clock_process_cpu_ns();
    for (int i = 0; i < SAMPLES; i++) {
        shares.main_cpu_seconds += 0.1;
        shares.machine_busy_seconds += 0.2;
        shares.machine_cpu_seconds += 0.4;
        /* All within a second: counters that stood still for longer would be at fault. */
        energy_meter_read(&meter, &shares, (int64_t)(i + 1) * 1000);
    }
    double ns = (double)(clock_process_cpu_ns() - start) / SAMPLES;
    energy_meter_finish(&meter);
    return ns;
}

static double none_ns(void)
{
    struct energy_meter meter;
    volatile bool any = false;
    energy_meter_init(&meter, "/nonexistent");
    int64_t start = clock_process_cpu_ns();
    for (int i = 0; i < SAMPLES; i++)
        any = energy_meter_has_any(&meter);
    double ns = (double)(clock_process_cpu_ns() - start) / SAMPLES;
    (void)any;
    energy_meter_finish(&meter);
    return ns;
}

static void print_row(const char *what, double ns, double floor_ns)
{
    printf("%-58s %10.3f us %8.2f x\n", what, ns / 1e3, ns / floor_ns);
}

int main(void)
{
    char command[64];
    make_machine();
    double floor_ns = bare_ns();
    printf("%d energy counters; CPU time a sample (at most ten a second are taken)\n", COUNTERS);
    print_row("reading the counters' files alone", floor_ns, floor_ns);
    print_row("energy of a sample, shared out", meter_ns(), floor_ns);
    print_row("on a machine without counters", none_ns(), floor_ns);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) != 0;
}
