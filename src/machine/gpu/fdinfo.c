#include "machine/gpu/fdinfo.h"

#include "base/number.h"

#include <stdio.h>
#include <string.h>

/* A part of the text. */
struct span {
    const char *start, *end;
};

static size_t span_length(struct span span)
{
    return (size_t)(span.end - span.start);
}

static bool span_is(struct span span, const char *text)
{
    return span_length(span) == strlen(text) && memcmp(span.start, text, span_length(span)) == 0;
}

static void span_copy(struct span span, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)(span_length(span) < size ? span_length(span) : size - 1),
        span.start);
}

/* Removes `prefix` from the start; false when it is not there. */
static bool span_skip(struct span *span, const char *prefix)
{
    size_t length = strlen(prefix);
    if (span_length(*span) <= length || memcmp(span->start, prefix, length) != 0)
        return false;
    span->start += length;
    return true;
}

static struct span trimmed(struct span span)
{
    while (span.start < span.end && (*span.start == ' ' || *span.start == '\t'))
        span.start++;
    while (span.start < span.end && strchr(" \t\r", span.end[-1]))
        span.end--;
    return span;
}

/* A number and, after a blank, the unit of a size. */
static bool parse_value(struct span span, uint64_t *value)
{
    const char *end = number_parse_uint64(span.start, span.end, value);
    if (!end)
        return false;
    struct span unit = trimmed((struct span){end, span.end});
    unsigned shift = 0;
    if (span_is(unit, "KiB"))
        shift = 10;
    else if (span_is(unit, "MiB"))
        shift = 20;
    else if (span_is(unit, "GiB"))
        shift = 30;
    if (shift && *value > UINT64_MAX >> shift)
        return false;
    *value <<= shift;
    return true;
}

/* Finds a region of memory by its name, or adds it. NULL: there is no space. */
static struct fdinfo_region *region(struct fdinfo *info, struct span name)
{
    for (uint32_t i = 0; i < info->n_regions; i++)
        if (span_is(name, info->regions[i].name))
            return &info->regions[i];
    if (info->n_regions == FDINFO_MAX_REGIONS || span_length(name) >= sizeof info->regions[0].name)
        return NULL;
    struct fdinfo_region *added = &info->regions[info->n_regions++];
    span_copy(name, added->name, sizeof added->name);
    return added;
}

/* Finds an engine by its name, or adds it. NULL: there is no space. */
static struct fdinfo_engine *engine(struct fdinfo *info, struct span name)
{
    for (uint32_t i = 0; i < info->n_engines; i++)
        if (span_is(name, info->engines[i].name))
            return &info->engines[i];
    if (info->n_engines == FDINFO_MAX_ENGINES || span_length(name) >= sizeof info->engines[0].name)
        return NULL;
    struct fdinfo_engine *added = &info->engines[info->n_engines++];
    span_copy(name, added->name, sizeof added->name);
    added->capacity = 1;
    return added;
}

/* Takes over the bytes of a region: those in memory (`resident`), or all of them. */
static void parse_region(struct fdinfo *info, struct span name, uint64_t value, bool resident)
{
    struct fdinfo_region *found = region(info, name);
    if (!found)
        return;
    if (!resident) {
        found->total_bytes = value;
    } else {
        /* drm-memory and drm-resident are the same figure under two names. */
        if (!found->has_resident || value > found->resident_bytes)
            found->resident_bytes = value;
        found->has_resident = true;
    }
}

/* A key after "drm-" with a number as its value. The longer of two prefixes comes first. */
static void parse_number(struct fdinfo *info, struct span key, uint64_t value)
{
    struct fdinfo_engine *found;
    if (span_is(key, "client-id")) {
        info->client = value;
        info->has_client = true;
    } else if (span_skip(&key, "engine-capacity-")) {
        if ((found = engine(info, key)) && value > 0 && value <= 1024)
            found->capacity = (uint32_t)value;
    } else if (span_skip(&key, "engine-")) {
        if ((found = engine(info, key)))
            found->busy_ns = value;
    } else if (span_skip(&key, "total-cycles-")) {
        if ((found = engine(info, key)))
            found->total_cycles = value;
    } else if (span_skip(&key, "cycles-")) {
        if ((found = engine(info, key)))
            found->busy_cycles = value;
    } else if (span_skip(&key, "resident-") || span_skip(&key, "memory-")) {
        parse_region(info, key, value, true);
    } else if (span_skip(&key, "total-")) {
        parse_region(info, key, value, false);
    } else if (span_skip(&key, "shared-")) {
        struct fdinfo_region *shared = region(info, key);
        if (shared)
            shared->shared_bytes = value;
    }
}

/* Takes over a line if it is one of DRM. */
static void parse_line(struct fdinfo *info, struct span line)
{
    const char *colon = memchr(line.start, ':', span_length(line));
    struct span key = {line.start, colon};
    if (!colon || !span_skip(&key, "drm-"))
        return;
    struct span value = trimmed((struct span){colon + 1, line.end});
    uint64_t number;
    if (span_is(key, "driver")) {
        span_copy(value, info->driver, sizeof info->driver);
    } else if (span_is(key, "pdev")) {
        char text[PCI_ADDRESS_TEXT_SIZE];
        struct pci_address address;
        span_copy(value, text, sizeof text);
        if (pci_address_parse(text, &address))
            pci_address_format(&address, info->pci_address);
    } else if (parse_value(value, &number)) {
        parse_number(info, key, number);
    }
}

int fdinfo_parse(const char *text, size_t length, struct fdinfo *info)
{
    memset(info, 0, sizeof *info);
    for (const char *end = text + length; text < end;) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        struct span line = {text, newline ? newline : end};
        parse_line(info, line);
        text = newline ? newline + 1 : end;
    }
    return info->driver[0] ? GPUT_OK : GPUT_ERROR_FORMAT;
}

/* "vram", "vram0", "local0": on the card. "gtt", "system0", "cpu", "memory" are the machine's. */
static bool is_on_card(const char *region_name)
{
    return strncmp(region_name, "vram", 4) == 0 || strncmp(region_name, "local", 5) == 0;
}

uint64_t fdinfo_ram_bytes(const struct fdinfo *info, bool integrated, uint64_t *shared_bytes)
{
    uint64_t sum = 0;
    *shared_bytes = 0;
    for (uint32_t i = 0; i < info->n_regions; i++) {
        const struct fdinfo_region *held = &info->regions[i];
        uint64_t bytes = held->has_resident ? held->resident_bytes : held->total_bytes;
        if ((!integrated && !is_on_card(held->name)) || sum + bytes < sum)
            continue;
        sum += bytes;
        *shared_bytes += held->shared_bytes < bytes ? held->shared_bytes : bytes;
    }
    return sum;
}
