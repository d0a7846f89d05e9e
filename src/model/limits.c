#include <gputracker/limits.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/sized.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct kind {
    const char *name;
    bool is_size;
} kinds[GPUT_LIMIT_KIND_COUNT] = {
    [GPUT_LIMIT_RAM] = {"ram", true},
    [GPUT_LIMIT_GPU_RAM] = {"gpu_ram", true},
    [GPUT_LIMIT_SECONDS] = {"seconds", false},
    [GPUT_LIMIT_CPU_SECONDS] = {"cpu_seconds", false},
};

struct unit {
    const char *name;
    double factor;
};

static const struct unit sizes[] = {
    {"", 1},
    {"b", 1},
    {"k", 1e3},
    {"m", 1e6},
    {"g", 1e9},
    {"t", 1e12},
    {"kb", 1e3},
    {"mb", 1e6},
    {"gb", 1e9},
    {"tb", 1e12},
    {"kib", 1024.0},
    {"mib", 1048576.0},
    {"gib", 1073741824.0},
    {"tib", 1099511627776.0},
    {NULL, 0},
};

static const struct unit times[] = {
    {"", 1},
    {"s", 1},
    {"m", 60},
    {"h", 3600},
    {"d", 86400},
    {NULL, 0},
};

static const struct gput_limits none = {.size = sizeof none};

void gput_limits_init(struct gput_limits *limits, size_t size)
{
    sized_init(limits, size, &none, sizeof none);
}

const char *gput_limit_kind_name(enum gput_limit_kind kind)
{
    return (size_t)kind < GPUT_LIMIT_KIND_COUNT ? kinds[kind].name : NULL;
}

/* Returns 0 where the text is not a positive amount in one of the units. */
static double parse_amount(const char *text, const struct unit *units)
{
    double number;
    const char *rest = number_parse_double(text, text + strlen(text), &number);
    if (!rest || !(number > 0 && number < 1e300))
        return 0;
    while (*rest == ' ')
        rest++;
    for (; units->name; units++) {
        if (strcasecmp(rest, units->name) == 0)
            return number * units->factor;
    }
    return 0;
}

int gput_limits_parse(const char *text, struct gput_limits *limits, struct gput_error *error)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    for (size_t i = 0; i < GPUT_LIMIT_KIND_COUNT; i++) {
        if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, text, length) != 0)
            continue;
        double amount = equals ? parse_amount(equals + 1, kinds[i].is_size ? sizes : times) : 0;
        if (amount <= 0)
            return error_set(error, GPUT_ERROR_INVALID,
                "\"%s\" is not a valid limit. Give %s, for example %s=%s.", text,
                kinds[i].is_size ? "a size" : "a time", kinds[i].name,
                kinds[i].is_size ? "8GB" : "90s");
        if (limits->size < offsetof(struct gput_limits, values[i + 1]))
            return error_set(error, GPUT_ERROR_UNSUPPORTED,
                "This program was built before there was a limit of %s.", kinds[i].name);
        limits->values[i] = amount;
        return GPUT_OK;
    }
    char name[32], question[NEAREST_QUESTION_SIZE];
    snprintf(
        name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    return error_set(error, GPUT_ERROR_INVALID,
        "\"%s\" is not a valid limit%s Limits are ram, gpu_ram, seconds and cpu_seconds, for "
        "example "
        "ram=8GB.",
        text, nearest_question("ram gpu_ram seconds cpu_seconds", name, question));
}
