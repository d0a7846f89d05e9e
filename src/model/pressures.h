/*
 * What tasks wait for, as the kernel's pressure stall information counts it. Each in one row, of
 * which the columns of the results are made; `name` is that of its file, too.
 *
 *     PRESSURE(ID, name, what)
 */
#pragma once

/* clang-format off */
#define PRESSURES(PRESSURE) \
    PRESSURE(CPU, cpu, "a CPU") \
    PRESSURE(MEMORY, memory, "memory: reclaim, or pages that were dropped and read again") \
    PRESSURE(IO, io, "storage")
/* clang-format on */

enum pressure_id {
#define PRESSURE_ID(ID, name, what) PRESSURE_##ID,
    PRESSURES(PRESSURE_ID)
#undef PRESSURE_ID
        PRESSURE_COUNT
};
