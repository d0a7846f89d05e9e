#include "machine/energy/energy_counters.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "base/text.h"
#include "machine/os/sysfs.h"
#include "model/energy.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Finding them ---- */

/* Says what an administrator can do, which only helps against missing permission. */
static void suggest_remedy(struct energy_counters *energy, const struct powercap_zone *zone)
{
    struct str command = {0};
    if (zone->open_errno != EACCES && zone->open_errno != EPERM)
        return;
    str_append(&command, "sudo chmod a+r ");
    str_append_shell_word(&command, energy->sysfs_root);
    str_printf(&command, "/class/powercap/intel-rapl%s:*/energy_uj", zone->is_mmio ? "*" : "");
    if (command.length < sizeof energy->remedy) /* not half a command */
        strcpy(energy->remedy, str_text(&command));
    str_finish(&command);
}

/* Returns the length of "<sysfs>/class/powercap/intel-rapl:0" in a zone's path. */
static int folder_length(const struct powercap_zone *zone)
{
    return (int)(strrchr(zone->path, '/') - zone->path);
}

/* Says why powercap gives no counter. */
static void explain_powercap(struct energy_counters *energy)
{
    const struct powercap *powercap = &energy->powercap;
    if (powercap->folder_errno) {
        text_fit(energy->why_not, sizeof energy->why_not, "Cannot read %.160s/class/powercap: %s",
            energy->sysfs_root, strerror(powercap->folder_errno));
        return;
    }
    if (powercap->count == 0 && powercap->n_unnamed > 0) {
        text_fit(energy->why_not, sizeof energy->why_not,
            "%.*s has no name that says what it counts", folder_length(powercap->zones),
            powercap->zones[0].path);
        return;
    }
    if (powercap->count == 0) {
        text_fit(energy->why_not, sizeof energy->why_not,
            "this machine shows no RAPL counters (%s/class/powercap); virtual machines rarely do",
            energy->sysfs_root);
        return;
    }
    text_fit(energy->why_not, sizeof energy->why_not, "%.200s: %s", powercap->zones[0].path,
        strerror(powercap->zones[0].open_errno));
}

/* Whether powercap gives some counter. */
static bool any_zone_opened(const struct powercap *powercap)
{
    for (size_t i = 0; i < powercap->count; i++) {
        if (powercap->zones[i].fd >= 0)
            return true;
    }
    return false;
}

/* Returns how many counters are read. */
static size_t counter_count(const struct energy_counters *energy)
{
    return energy->uses_perf ? energy->perf.count : energy->powercap.count;
}

void energy_counters_init(struct energy_counters *energy, const char *sysfs_root)
{
    struct powercap *powercap = &energy->powercap;
    *energy = (struct energy_counters){.sysfs_root = sysfs_root};
    for (int i = 0; i < ENERGY_DOMAINS; i++)
        energy->pending[i] = NAN;

    int code = powercap_open(sysfs_root, powercap);
    if (!any_zone_opened(powercap))
        explain_powercap(energy);
    size_t refused = 0;
    for (size_t i = 0; i < powercap->count; i++) {
        refused += powercap->zones[i].fd < 0;
        suggest_remedy(energy, &powercap->zones[i]);
    }

    /* The same counters: used where perf gives more of them. */
    if (refused > 0 || powercap->n_unnamed > 0 || powercap->count == 0)
        perf_energy_open(sysfs_root, &energy->perf);
    energy->uses_perf = energy->perf.count > powercap->count - refused;
    if (!energy->uses_perf)
        perf_energy_close(&energy->perf);

    energy->counters = calloc(counter_count(energy) + 1, sizeof *energy->counters);
    if (code == GPUT_OK && energy->counters)
        return;
    /* Without memory there are no counters, for that reason. */
    powercap_close(powercap);
    perf_energy_close(&energy->perf);
    energy->uses_perf = false;
    text_fit(energy->why_not, sizeof energy->why_not, "out of memory");
}

void energy_counters_finish(struct energy_counters *energy)
{
    powercap_close(&energy->powercap);
    perf_energy_close(&energy->perf);
    free(energy->counters);
    energy->counters = NULL;
}

bool energy_counters_are_missing(const struct energy_counters *energy)
{
    return energy->why_not[0] && !energy->uses_perf;
}

bool energy_counters_may_wrap(const struct energy_counters *energy)
{
    return !energy->uses_perf && any_zone_opened(&energy->powercap);
}

/* ---- Reading them ---- */

static enum energy_domain domain_of(const struct energy_counters *energy, size_t i)
{
    return energy->uses_perf ? energy->perf.counters[i].domain : energy->powercap.zones[i].domain;
}

/* Returns what a counter shows, in joules; NaN: it cannot be read. */
static double read_counter(struct energy_counters *energy, size_t i)
{
    uint64_t energy_uj;
    if (energy->uses_perf) {
        const struct perf_energy_counter *counter = &energy->perf.counters[i];
        uint64_t count;
        bool is_read = read(counter->fd, &count, sizeof count) == (ssize_t)sizeof count;
        return is_read ? (double)count * counter->joules_per_count : NAN;
    }
    const struct powercap_zone *zone = &energy->powercap.zones[i];
    energy->counters[i].range_joules = (double)zone->range_uj * 1e-6;
    return powercap_read(zone, &energy_uj) == GPUT_OK ? (double)energy_uj * 1e-6 : NAN;
}

/* Whether the domain may use nothing: an idle graphics unit. Everything else always uses some
 * energy.
 */
static bool may_stand_still(enum energy_domain domain)
{
    return domain == ENERGY_UNCORE;
}

void energy_counters_read(struct energy_counters *energy, int64_t now_ns)
{
    memset(energy->is_lost, 0, sizeof energy->is_lost);
    for (size_t i = 0; i < counter_count(energy); i++) {
        enum energy_domain domain = domain_of(energy, i);
        struct energy_counter *counter = &energy->counters[i];
        double joules = read_counter(energy, i), added = NAN;
        /* The first reading only starts the counter. */
        if (isnan(joules))
            energy_counter_fail(counter, now_ns);
        else
            added = energy_counter_advance(counter, joules, now_ns);
        if (counter->has_moved || may_stand_still(domain))
            number_add_known(&energy->pending[domain], added);
        bool is_stuck = energy_counter_stands_still(counter) && !may_stand_still(domain);
        energy->is_lost[domain] |= counter->has_moved && (counter->failed || is_stuck);
    }
    if (energy->first_read_ns == 0)
        energy->first_read_ns = now_ns;
    energy->read_ns = now_ns;
}

bool energy_counters_have_package(const struct energy_counters *energy)
{
    for (size_t i = 0; i < counter_count(energy); i++) {
        const struct energy_counter *counter = &energy->counters[i];
        if (domain_of(energy, i) == ENERGY_PACKAGE && counter->has_last &&
            (counter->has_moved || !counter->stood_still))
            return true;
    }
    return false;
}

void energy_counters_take(struct energy_counters *energy, double joules[ENERGY_DOMAINS])
{
    for (int i = 0; i < ENERGY_DOMAINS; i++) {
        joules[i] = energy->pending[i];
        energy->pending[i] = NAN;
    }
}

int64_t energy_counters_unknown_ns(
    const struct energy_counters *energy, int64_t start_ns, const bool counts[ENERGY_DOMAINS])
{
    /* A counter without a name may be a package's. */
    if (energy->powercap.n_unnamed > 0 && !energy->uses_perf)
        return energy->read_ns - start_ns;
    int64_t max_ns = 0;
    for (size_t i = 0; i < counter_count(energy); i++) {
        int64_t unknown_ns =
            energy_counter_unknown_ns(&energy->counters[i], start_ns, energy->read_ns);
        if (counts[domain_of(energy, i)] && unknown_ns > max_ns)
            max_ns = unknown_ns;
    }
    return max_ns;
}

/* ---- What is wrong with them ---- */

/* Returns what is wrong with a counter; NULL: nothing. */
static const char *fault_of(const struct energy_counter *counter, enum energy_domain domain)
{
    if (counter->failed)
        return counter->has_last ? "can no longer be read; the energy since then is not known"
                                 : "cannot be read and is skipped";
    if (counter->went_back)
        return "decreased; those intervals were skipped";
    if (counter->went_ahead)
        return "jumped ahead by more than a CPU can use; those intervals were skipped";
    if (may_stand_still(domain))
        return NULL;
    if (!counter->stood_still)
        return counter->has_moved || counter->last_ns == counter->moved_ns ? NULL
                                                                           : "has not advanced yet";
    return counter->has_moved ? "did not advance; the energy it missed is not known"
                              : "does not advance and is skipped";
}

void energy_counters_explain(const struct energy_counters *energy, char *text, size_t size)
{
    struct fault_list faults;
    size_t n_psys = 0, count = counter_count(energy);
    char line[256];
    fault_list_begin(&faults, text, size);

    /* The platform contains the CPU and much else: nothing says how much of it is the CPU's. */
    for (size_t i = 0; i < count; i++)
        n_psys += domain_of(energy, i) == ENERGY_PSYS;
    if (count > 0 && n_psys == count)
        fault_list_add(&faults, "there is only the psys counter, of the whole platform: it is not "
                                "in any total and is not shared out");

    for (size_t i = 0; i < count; i++) {
        char name[32];
        const struct powercap_zone *zone = energy->uses_perf ? NULL : &energy->powercap.zones[i];
        const char *fault = fault_of(&energy->counters[i], domain_of(energy, i));
        /* Write "package", and which one where there are several. */
        enum energy_domain domain = domain_of(energy, i);
        size_t same = 0;
        for (size_t k = 0; k < counter_count(energy); k++)
            same += domain_of(energy, k) == domain;
        uint32_t package = energy->uses_perf ? energy->perf.counters[i].package
                                             : energy->powercap.zones[i].package;
        bool is_mmio = !energy->uses_perf && energy->powercap.zones[i].is_mmio;
        if (same > 1)
            snprintf(name, sizeof name, "%s %u%s", energy_domain_name(domain), package,
                is_mmio ? " (mmio)" : "");
        else
            snprintf(name, sizeof name, "%s", energy_domain_name(domain));
        if (zone && zone->fd < 0)
            snprintf(line, sizeof line, "the %s counter cannot be read (%s) and is skipped", name,
                strerror(zone->open_errno));
        else if (fault)
            snprintf(line, sizeof line, "the %s counter %s", name, fault);
        else if (energy->counters[i].late_ns > 0)
            text_fit(line, sizeof line,
                "the %s counter could not be read in the first %.1f s, which are missing", name,
                clock_seconds_of_ns(energy->counters[i].late_ns));
        else
            continue;
        fault_list_add(&faults, line);
    }

    const struct powercap *powercap = &energy->powercap;
    for (size_t i = 0; i < powercap->n_unnamed && !energy->uses_perf; i++) {
        const struct powercap_zone *zone = &powercap->zones[powercap->count + i];
        snprintf(line, sizeof line, "%.*s has no name that says what it counts and is skipped",
            folder_length(zone), zone->path);
        fault_list_add(&faults, line);
    }
    fault_list_end(&faults);
}

/* ---- One counter ---- */

/* Counters increase every millisecond, even when idle. */
#define STILL_NS (2 * NS_PER_SECOND)
/* Slow counters include energy used before the last reading. */
#define SLOW_SECONDS 1

void energy_counter_start(
    struct energy_counter *counter, double joules, double range_joules, int64_t now_ns)
{
    *counter = (struct energy_counter){.last_joules = joules,
        .last_ns = now_ns,
        .moved_ns = now_ns,
        .range_joules = range_joules,
        .has_last = true};
}

void energy_counter_fail(struct energy_counter *counter, int64_t now_ns)
{
    if (!counter->has_last && !counter->failed)
        counter->last_ns = now_ns;
    counter->failed = true;
}

bool energy_counter_stands_still(const struct energy_counter *counter)
{
    return counter->last_ns - counter->moved_ns >= STILL_NS;
}

/* Whether so many joules can have been added: no more than was used since the counter last changed.
 */
static bool is_plausible(const struct energy_counter *counter, double added, int64_t now_ns)
{
    double seconds = clock_seconds_of_ns(now_ns - counter->moved_ns);
    return added <= ENERGY_DEVICE_MAX_WATTS * (seconds + SLOW_SECONDS);
}

double energy_counter_advance(struct energy_counter *counter, double joules, int64_t now_ns)
{
    if (!counter->has_last) {
        int64_t late_ns = counter->failed ? now_ns - counter->last_ns : 0;
        energy_counter_start(counter, joules, counter->range_joules, now_ns);
        counter->late_ns = counter->unknown_ns = late_ns;
        return NAN;
    }

    counter->failed = false;
    double added = joules - counter->last_joules;
    /* A wrap goes from near the top to near the bottom; any other decrease is a reset. */
    if (added < 0 && -added > counter->range_joules / 2 &&
        is_plausible(counter, added + counter->range_joules, now_ns))
        added += counter->range_joules;

    bool is_ahead = !is_plausible(counter, added, now_ns);
    int64_t passed_ns = now_ns - counter->last_ns;
    bool was_still = energy_counter_stands_still(counter);
    counter->last_joules = joules;
    counter->last_ns = now_ns;
    if (added < 0 || is_ahead) {
        counter->went_back |= added < 0;
        counter->went_ahead |= is_ahead;
        counter->moved_ns = now_ns;
        counter->unknown_ns += passed_ns;
        return NAN;
    }
    counter->has_moved |= added > 0;
    if (added > 0)
        counter->moved_ns = now_ns;
    if (energy_counter_stands_still(counter)) {
        counter->stood_still = true;
        counter->unknown_ns += was_still ? passed_ns : now_ns - counter->moved_ns;
    }
    return added;
}

int64_t energy_counter_unknown_ns(
    const struct energy_counter *counter, int64_t since_ns, int64_t now_ns)
{
    if (!counter->has_moved)
        return now_ns - since_ns;
    /* Its counts while it could not be read are added when it can be read again. */
    return counter->unknown_ns + (counter->failed ? now_ns - counter->last_ns : 0);
}

/* Space for "; and 99 more". */
#define MORE_SIZE 16

void fault_list_begin(struct fault_list *list, char *text, size_t size)
{
    *list = (struct fault_list){.text = text, .size = size};
    text[0] = '\0';
}

void fault_list_add(struct fault_list *list, const char *fault)
{
    size_t length = strlen(fault) + 2;
    if (list->more || list->length + length + MORE_SIZE > list->size) {
        list->more++;
        return;
    }
    list->length += (size_t)snprintf(list->text + list->length, list->size - list->length, "%s%s",
        list->length ? "; " : "", fault);
}

void fault_list_end(const struct fault_list *list)
{
    if (list->more)
        snprintf(list->text + list->length, list->size - list->length, "; and %u more", list->more);
}

/* More CPUs than any machine has, and the list as text. */
#define MAX_PACKAGES 1024
#define CPUMASK_SIZE (MAX_PACKAGES * sizeof "12345")

static const struct {
    const char *name;
    enum energy_domain domain;
} events[] = {
    {"energy-pkg", ENERGY_PACKAGE},
    {"energy-cores", ENERGY_CORE},
    {"energy-gpu", ENERGY_UNCORE},
    {"energy-ram", ENERGY_DRAM},
    {"energy-psys", ENERGY_PSYS},
};
#define EVENTS (sizeof events / sizeof events[0])

size_t perf_energy_parse_cpus(const char *text, int *cpus, size_t capacity)
{
    const char *end = text + strlen(text);
    size_t count = 0;
    while (text < end && *text >= '0' && *text <= '9') {
        uint64_t first, last;
        text = number_parse_uint64(text, end, &first);
        last = first;
        if (text && text < end && *text == '-')
            text = number_parse_uint64(text + 1, end, &last);
        if (!text || last > 65535)
            break;
        for (uint64_t cpu = first; cpu <= last && count < capacity; cpu++)
            cpus[count++] = (int)cpu;
        if (*text != ',')
            break;
        text++;
    }
    return count;
}

bool perf_energy_parse_event(const char *text, uint64_t *config)
{
    if (strncmp(text, "event=0x", 8) != 0)
        return false;
    char *end;
    *config = strtoull(text + 8, &end, 16);
    return end > text + 8;
}

/* Opens the counters of one domain, one per package. Returns the errno of the first that is
 * refused. */
static int add_event(struct perf_energy *energy, const char *folder, size_t event, uint32_t type,
    const int *cpus, size_t cpu_count)
{
    char name[64], text[64];
    uint64_t config;
    double scale = 0;
    snprintf(name, sizeof name, "events/%s", events[event].name);
    if (!sysfs_read_line(folder, name, text, sizeof text) ||
        !perf_energy_parse_event(text, &config))
        return 0;
    snprintf(name, sizeof name, "events/%s.scale", events[event].name);
    if (!sysfs_read_double(folder, name, &scale) || !(scale > 0))
        return 0;
    for (size_t i = 0; i < cpu_count; i++) {
        struct perf_event_attr attributes = {
            .type = type, .size = sizeof attributes, .config = config};
        int fd = (int)syscall(
            SYS_perf_event_open, &attributes, -1, cpus[i], -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
        if (fd < 0)
            return errno;
        energy->counters[energy->count++] =
            (struct perf_energy_counter){.domain = events[event].domain,
                .package = (uint32_t)i,
                .fd = fd,
                .joules_per_count = scale};
    }
    return 0;
}

void perf_energy_open(const char *sysfs_root, struct perf_energy *energy)
{
    char folder[256], text[CPUMASK_SIZE];
    uint64_t type;
    int cpus[MAX_PACKAGES], refused = 0;
    *energy = (struct perf_energy){0};
    snprintf(energy->why_not, sizeof energy->why_not,
        "no energy counters by perf events (%.80s/bus/event_source/devices/power)", sysfs_root);
    snprintf(folder, sizeof folder, "%s/bus/event_source/devices/power", sysfs_root);
    if (!sysfs_read_uint64(folder, "type", &type) ||
        !sysfs_read_line(folder, "cpumask", text, sizeof text))
        return;
    size_t cpu_count = perf_energy_parse_cpus(text, cpus, MAX_PACKAGES);
    energy->counters = calloc(cpu_count * EVENTS + 1, sizeof *energy->counters);
    if (!energy->counters) {
        snprintf(energy->why_not, sizeof energy->why_not, "out of memory");
        return;
    }
    for (size_t i = 0; i < EVENTS && !refused; i++)
        refused = add_event(energy, folder, i, (uint32_t)type, cpus, cpu_count);
    energy->refused = refused && energy->count == 0;
    if (refused)
        snprintf(energy->why_not, sizeof energy->why_not,
            "perf events of the CPU's energy are refused: %s", strerror(refused));
}

void perf_energy_close(struct perf_energy *energy)
{
    for (size_t i = 0; i < energy->count; i++)
        close(energy->counters[i].fd);
    free(energy->counters);
    energy->counters = NULL;
    energy->count = 0;
}
