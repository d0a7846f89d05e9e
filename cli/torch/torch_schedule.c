#include "torch/torch_schedule.h"

#include "base/error.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PyTorch asks every 5 s, and must know the start in advance: the delay lets the last rank ask in
 * time. */
#define JOINT_DELAY_MS 8000

/* Duration for which the profiler is switched on before it traces. */
#define WARM_UP_SECONDS 1

#define MAX_CLIENTS 4096

/* ---- The command line ---- */

static const struct {
    const char *name;
    double ms; /* milliseconds; 0: steps */
} units[] = {{"ms", 1}, {"s", 1000}, {"min", 60e3}, {"h", 3600e3}, {"steps", 0}, {"step", 0}};

/* Reads an amount such as "2.5s". Without a unit, `usual` is used, which is one of the units
 * above. */
static bool read_amount(
    const char *text, size_t length, const char *usual, bool *by_step, int64_t *amount)
{
    char number[32];
    double value;
    size_t digits = strspn(text, "0123456789.");
    const char *unit = digits < length ? text + digits : usual;
    size_t unit_length = digits < length ? length - digits : strlen(usual);
    if (digits == 0 || digits >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)digits, text);
    if (!number_read_double(number, &value) || !(value >= 0 && value < 1e9))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != unit_length || memcmp(units[i].name, unit, unit_length) != 0)
            continue;
        *by_step = units[i].ms == 0;
        *amount = (int64_t)(*by_step ? value : value * units[i].ms);
        return !*by_step || (double)*amount == value;
    }
    return false;
}

int torch_schedule_add(struct torch_schedule *schedule, const char *text, struct gput_error *error)
{
    struct torch_request request = {0};
    bool start_by_step = false;
    const char *at = strchr(text, '@');
    size_t length = at ? (size_t)(at - text) : strlen(text);
    bool is_read = read_amount(text, length, "s", &request.by_step, &request.amount);
    start_by_step = request.by_step;
    if (is_read && at)
        is_read = read_amount(at + 1, strlen(at + 1), request.by_step ? "steps" : "s",
            &start_by_step, &request.start);
    if (!is_read || start_by_step != request.by_step || request.amount < 1 ||
        request.amount > INT32_MAX || (request.by_step && request.start > INT32_MAX))
        return error_set(error, GPUT_ERROR_INVALID,
            "--torch-trace=%.80s is not a trace. Examples: 2s@60s (two seconds, a minute after the "
            "start), 5steps@100 (five steps, from step 100 on).",
            text);
    if (schedule->n_requests == TORCH_MAX_REQUESTS)
        return error_set(error, GPUT_ERROR_INVALID, "--torch-trace can be given %d times at most.",
            TORCH_MAX_REQUESTS);
    schedule->requests[schedule->n_requests++] = request;
    return GPUT_OK;
}

/* ---- Processes and ranks ---- */

struct torch_client *torch_schedule_client(struct torch_schedule *schedule, const char *address)
{
    struct torch_client *clients = schedule->clients;
    size_t count = schedule->n_clients;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(clients[i].address, address) == 0)
            return &clients[i];
    }
    if (count == MAX_CLIENTS)
        return NULL;
    if ((count & (count - 1)) == 0) {
        clients = realloc(clients, (count > 0 ? 2 * count : 1) * sizeof *clients);
        if (!clients)
            return NULL;
        schedule->clients = clients;
    }
    struct torch_client *client = &clients[schedule->n_clients++];
    *client = (struct torch_client){.rank = -1, .world_size = -1, .local_size = -1};
    snprintf(client->address, sizeof client->address, "%s", address);
    return client;
}

/* Whether a client is a descendant of another. */
static bool is_below(const struct torch_client *client, const struct torch_client *other)
{
    for (size_t i = 1; i < client->message.n_processes; i++) {
        if (client->message.processes[i] == other->message.processes[0])
            return true;
    }
    return false;
}

bool torch_schedule_is_launcher(
    const struct torch_schedule *schedule, const struct torch_client *client)
{
    for (size_t i = 0; i < schedule->n_clients && client->rank < 0; i++) {
        const struct torch_client *other = &schedule->clients[i];
        if (other->rank >= 0 && is_below(other, client))
            return true;
    }
    return false;
}

long torch_schedule_rank(const struct torch_schedule *schedule, const struct torch_client *client)
{
    for (size_t i = 0; i < schedule->n_clients; i++) {
        const struct torch_client *other = &schedule->clients[i];
        if (other->rank == client->rank && is_below(client, other))
            return -1;
    }
    return client->rank;
}

/* ---- Requests that are due ---- */

const struct torch_request *torch_schedule_next(struct torch_schedule *schedule,
    struct torch_client *client, int64_t since_start_ms, int64_t epoch_ms, int64_t *joint_start_ms)
{
    size_t number = client->n_given;
    *joint_start_ms = 0;
    if (number >= schedule->n_requests || !client->message.can_trace ||
        torch_schedule_is_launcher(schedule, client))
        return NULL;
    const struct torch_request *request = &schedule->requests[number];
    if (!request->by_step && (since_start_ms < request->start || client->n_asked < 2))
        return NULL;
    /* So many ranks begin together. */
    long ranks =
        schedule->is_rank || client->rank < 0 || client->local_size < 1 ? 1 : client->local_size;
    if (!request->by_step && ranks > 1) {
        /* Check whether all ranks of this machine have asked. */
        long there = 0;
        for (size_t i = 0; i < schedule->n_clients; i++)
            there += torch_schedule_rank(schedule, &schedule->clients[i]) >= 0;
        if (there < ranks)
            return NULL;

        if (!schedule->joint_start_ms[number])
            schedule->joint_start_ms[number] = epoch_ms + JOINT_DELAY_MS;
        if (schedule->joint_start_ms[number] > epoch_ms + WARM_UP_SECONDS * 1000)
            *joint_start_ms = schedule->joint_start_ms[number]; /* otherwise this rank is too late
                                                                   for it */
    }
    client->n_given += !request->by_step;
    return request;
}

size_t torch_request_compose(const struct torch_request *request, int64_t joint_start_ms,
    const char *path, char *text, size_t size)
{
    int length =
        request->by_step
            ? snprintf(text, size,
                  "ACTIVITIES_LOG_FILE=%s\nPROFILE_START_ITERATION=%" PRId64
                  "\nACTIVITIES_WARMUP_ITERATIONS=1\nACTIVITIES_ITERATIONS=%" PRId64
                  "\nACTIVITIES_DURATION_MSECS=0\n", /* otherwise it would apply to programs without
                                                        steps */
                  path, request->start, request->amount)
            : snprintf(text, size,
                  "ACTIVITIES_LOG_FILE=%s\nPROFILE_START_TIME=%" PRId64
                  "\nACTIVITIES_WARMUP_PERIOD_SECS=%d\nACTIVITIES_DURATION_MSECS=%" PRId64 "\n",
                  path, joint_start_ms, WARM_UP_SECONDS, request->amount);
    return length > 0 && (size_t)length < size ? (size_t)length : 0;
}

void torch_schedule_finish(struct torch_schedule *schedule)
{
    free(schedule->clients);
    *schedule = (struct torch_schedule){0};
}
