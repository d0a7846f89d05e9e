/* What users meet: doctor, served metrics, a pid namespace, and Python. */
#include "check_run.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PYTHON_S = 240 }; /* PyTorch alone can take a minute to be loaded */
enum { FETCH_S = 5 };

static void check_doctor(struct check *check)
{
    struct check_path path = check_path(check, "doctor.json");
    const char *command[] = {check->tracker, "doctor", "-f", "json", "-o", path.text, NULL};
    unlink(path.text);
    int status = check_execute(check, command, 0);
    json_t *report = json_load_file(path.text, 0, NULL);
    char *text = report ? json_dumps(report, 0) : NULL;
    check_table_state(&check->table, "doctor names the driver",
        status == 0 && text && strstr(text, check->nvml.driver), check->nvml.driver);
    free(text);
    json_decref(report);
}

/* Asks the loopback for /metrics; the text is cut to the buffer. */
static bool fetch_metrics(uint16_t port, char *text, size_t size)
{
    static const char request[] = "GET /metrics HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval timeout = {FETCH_S, 0};
    size_t length = 0;
    if (descriptor >= 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0 &&
        connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
        write(descriptor, request, sizeof request - 1) == (ssize_t)sizeof request - 1)
        for (ssize_t got;
             length < size - 1 && (got = read(descriptor, text + length, size - 1 - length)) > 0;)
            length += (size_t)got;
    if (descriptor >= 0)
        close(descriptor);
    text[length] = '\0';
    return length > 0;
}

static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, size) != 0 ||
        getsockname(descriptor, (struct sockaddr *)&address, &size) != 0)
        address.sin_port = 0;
    if (descriptor >= 0)
        close(descriptor);
    return ntohs(address.sin_port);
}

/* The largest value of samples of that metric. */
static double metric(const char *text, const char *name)
{
    double max = NAN;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        size_t length = strcspn(line, "\n");
        const char *value = memrchr(line, ' ', length);
        if (strncmp(line, name, strlen(name)) == 0 && value && !(max >= strtod(value, NULL)))
            max = strtod(value, NULL);
    }
    return max;
}

/* Fetches until the metric is as high as wanted, or the program has ended, or time is over. */
static double await_metric(
    struct check *check, pid_t pid, uint16_t port, double wanted, bool *is_served)
{
    static const char name[] = "gputracker_combined_gpu_memory_bytes";
    static char text[1 << 18];
    uint64_t end_ns = monotonic_now_ns() + (uint64_t)(check->patience_s / 2 * 1e9);
    double value = NAN;
    while (!(value >= wanted) && monotonic_now_ns() < end_ns) {
        siginfo_t info = {0};
        check_progress(check);
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid)
            break;
        if (fetch_metrics(port, text, sizeof text)) {
            *is_served = true;
            value = metric(text, name);
            /* Of a driver that lists no process: until a sample after the program has its memory
             * has no figure. One from before it has 0, rightly. */
            if (check->listing != LISTS_PROCESS && isnan(value) &&
                check_steps_done(check, "hold") > 0)
                break;
        }
        monotonic_sleep_until(monotonic_now_ns() + NS_PER_S / 10);
    }
    return value;
}

static void check_served(struct check *check)
{
    static const char figure[] = "GPU RAM of the program in Prometheus' text";
    char address[32], bytes[32];
    uint16_t port = free_port();
    bool is_served = false;
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    snprintf(bytes, sizeof bytes, "%" PRIu64, 256 * MIB);
    const char *command[] = {check->tracker, "run", "--no-config", "--st", "0.1", "--listen",
        address, "--", check->load, "hold", bytes, "wait", "600000", NULL};
    unlink(check_path(check, "steps.txt").text);
    pid_t pid = check_start(check, command);
    double truth = check->context_bytes + 256.0 * MIB;
    double value = await_metric(check, pid, port, truth - PIECE_BYTES, &is_served);
    double listed = nvml_reference_read(&check->nvml, NVML_PROCESSES) - check->nvml.bytes_before;
    programs_end(&check->programs, pid);
    check_await_rest(check);
    check_table_state(&check->table, "metrics are served", is_served, address);
    if (check->listing != LISTS_PROCESS && isnan(value))
        check_table_skip(&check->table, figure, "the driver does not list it: it has no sample");
    else
        check_table_compare(&check->table, (struct check_figure){.figure = figure,
                                               .unit = "bytes",
                                               .truth = truth,
                                               .ours = value,
                                               .reference = listed,
                                               .tolerance = PIECE_BYTES});
}

/* The driver may list pids of another namespace: then the figure is missing, with a reason, or
 * right; never zero. */
static void check_namespace(struct check *check)
{
    static const char figure[] = "in a pid namespace: right, or missing with a reason";
    struct check_path path = check_path(check, "report.json");
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%" PRIu64, 256 * MIB);
    const char *command[] = {"unshare", "--pid", "--fork", "--mount-proc", "--user",
        "--map-root-user", check->tracker, "run", "--no-config", "-f", "json", "-o", path.text,
        "--overwrite", "--gru", "bytes", "--st", "0.1", "--", check->load, "hold", bytes, "wait",
        "1500", NULL};
    if (geteuid() == 0)
        memmove(command + 4, command + 6, sizeof command - 6 * sizeof *command);
    unlink(path.text);
    int status = check_execute(check, command, 2 + 5 * check->context_s);
    json_t *report = status == 0 ? json_load_file(path.text, 0, NULL) : NULL;
    if (status == PROGRAM_ENDED_LATE) {
        check_table_state(&check->table, figure, false, check_failure(status));
    } else if (!report) {
        check_table_skip(&check->table, figure,
            "no pid namespace can be made here, or no GPU is in it: see log.txt");
    } else {
        double held = check_number(check, report, "gpu_peaks.main");
        double truth = check->context_bytes + 256.0 * MIB;
        const char *reason = check_missing_reason(check, report);
        check_table_state(&check->table, figure,
            isnan(held) ? reason != NULL : fabs(held - truth) <= PIECE_BYTES,
            reason ? reason : check_text(check, report, "sources.gpu_ram.reason"));
    }
    json_decref(report);
}

/* A row of the Python script: its bounds are both the figure where that is one number. */
static void take_row(struct check *check, const json_t *row)
{
    const char *figure = check_text(check, row, "figure");
    const char *skipped = check_text(check, row, "skipped");
    if (skipped)
        check_table_skip(&check->table, figure, skipped);
    else if (json_object_get(row, "holds"))
        check_table_state(&check->table, figure, json_is_true(json_object_get(row, "holds")),
            check_text(check, row, "note"));
    else
        check_table_bounds(&check->table,
            (struct check_figure){.figure = figure,
                .unit = check_text(check, row, "unit"),
                .truth = check_number(check, row, "truth"),
                .ours = NAN,
                .reference = NAN,
                .tolerance = check_number(check, row, "tolerance")},
            check_number(check, row, "at_least"), check_number(check, row, "at_most"));
}

/* The Python script writes rows of its own, which are taken over. */
static void check_python(struct check *check)
{
    struct check_path path = check_path(check, "python.json");
    char script[4096];
    const char *slash = strrchr(check->load, '/');
    snprintf(script, sizeof script, "%.*s/gpu_check.py", slash ? (int)(slash - check->load) : 1,
        slash ? check->load : ".");
    if (!check->python) {
        check_table_skip(&check->table, "Python", "no --python was given");
        return;
    }
    const char *command[] = {check->python, script, path.text, NULL};
    setenv("GPU_TRACKER", check->tracker, 1);
    if (check->is_shared)
        setenv("GPU_CHECK_SHARED", "1", 1);
    unlink(path.text);
    int status = check_execute(check, command, PYTHON_S);
    json_t *rows = json_load_file(path.text, 0, NULL), *row;
    size_t index;
    json_array_foreach(rows, index, row) take_row(check, row);
    if (status != 0 || !json_is_array(rows))
        check_table_state(&check->table, "gpu_check.py", false, check_failure(status));
    json_decref(rows);
}

void trial_front_ends(struct check *check)
{
    check_table_begin(&check->table, "Front ends");
    check_doctor(check);
    if (!check->has_context) {
        check_table_skip(&check->table, "all others", "no program can use the GPU");
        return;
    }
    check_served(check);
    check_namespace(check);
    check_python(check);
}
