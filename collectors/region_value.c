#include "region_value.h"

#include "region_values.h"

#include <stdio.h>
#include <string.h>

/* The one table of this library; NULL: there is none (yet). */
static struct region_values *values;

static struct regions *opened;

static void open_values(void)
{
    struct region_values *made = regions_map_file(opened, "values", sizeof *made);
    if (!made)
        return;
    made->version = REGION_VALUES_VERSION;
    memcpy(made->magic, REGION_VALUES_MAGIC, sizeof made->magic);
    values = made;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Makes the row of a value. NULL: the table is full, which its `used` tells. */
static struct region_value *make_row(const struct region_name *name, const char *unit, double value)
{
    uint32_t number = atomic_fetch_add(&values->used, 1);
    if (number >= REGION_VALUES_MAX) {
        atomic_store(&values->used, REGION_VALUES_MAX + 1);
        return NULL;
    }
    struct region_value *row = &values->rows[number];
    snprintf(row->name, sizeof row->name, "%s", name->full);
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    atomic_store(&row->min, bits_of(value));
    atomic_store(&row->max, bits_of(value));
    atomic_store(&row->is_written, 1);
    return row;
}

enum change { ADDS, IS_LESS, IS_MORE };

/* Updates a number that other threads may update at the same time. */
static void change(_Atomic uint64_t *place, double value, enum change how)
{
    uint64_t before = atomic_load_explicit(place, memory_order_relaxed);
    for (;;) {
        double now = double_of(before);
        if ((how == IS_LESS && !(value < now)) || (how == IS_MORE && !(value > now)))
            return;
        if (atomic_compare_exchange_weak(
                place, &before, bits_of(how == ADDS ? now + value : value)))
            return;
    }
}

void region_value_add(
    struct regions *regions, const struct region_name *name, const char *unit, double value)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    opened = regions;
    pthread_once(&once, open_values);
    if (!values || !name || !name->is_recorded)
        return;
    struct region_name *own = (struct region_name *)name; /* names are always in writable memory */
    struct region_value *row = atomic_load_explicit(&own->value, memory_order_acquire);
    if (!row) {
        row = make_row(name, unit, value);
        if (!row)
            return;
        atomic_store_explicit(&own->value, row, memory_order_release);
    }
    atomic_fetch_add_explicit(&row->count, 1, memory_order_relaxed);
    change(&row->sum, value, ADDS);
    change(&row->min, value, IS_LESS);
    change(&row->max, value, IS_MORE);
}
