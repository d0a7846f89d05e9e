/*
 * The kernel's exit record of a thread in the layout of version 13, whatever kernel headers we are
 * built with: those of Linux before 5.17 end too early, those since 6.14 have another layout.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Times in microseconds where no unit is named, delays and runs in nanoseconds, sizes in KiB. */
struct taskstats_record {
    uint16_t version;
    uint32_t exit_status;
    uint8_t flags, nice;
    _Alignas(8) uint64_t cpu_delays, cpu_delay_ns;
    uint64_t block_delays, block_delay_ns;
    uint64_t swapin_delays, swapin_delay_ns;
    uint64_t run_real_ns, run_virtual_ns;
    char name[32];
    _Alignas(8) uint8_t scheduling;
    uint8_t padding[3];
    _Alignas(8) uint32_t uid;
    uint32_t gid, thread, parent, begin_s;
    _Alignas(8) uint64_t elapsed_us;
    uint64_t user_us, system_us;
    uint64_t minor_faults, major_faults;
    uint64_t resident_mb_us, virtual_mb_us;
    uint64_t peak_rss_kib, peak_virtual_kib;
    uint64_t read_call_bytes, write_call_bytes, read_calls, write_calls;
    uint64_t read_bytes, write_bytes, cancelled_write_bytes;
    uint64_t voluntary_switches, involuntary_switches;
    uint64_t user_scaled_us, system_scaled_us, run_real_scaled_ns;
    uint64_t reclaim_delays, reclaim_delay_ns;
    uint64_t thrashing_delays, thrashing_delay_ns;
    uint64_t begin64_s;
    uint64_t compaction_delays, compaction_delay_ns;
    /* Since version 12. */
    uint32_t process;
    _Alignas(8) uint64_t process_elapsed_us;
    uint64_t file_device, file_inode;
    /* Since version 13. */
    uint64_t write_copy_delays, write_copy_delay_ns;
};

static_assert(offsetof(struct taskstats_record, cpu_delays) == 16, "as in the kernel");
static_assert(offsetof(struct taskstats_record, name) == 80, "as in the kernel");
static_assert(offsetof(struct taskstats_record, thread) == 128, "as in the kernel");
static_assert(offsetof(struct taskstats_record, voluntary_switches) == 272, "as in the kernel");
static_assert(offsetof(struct taskstats_record, process) == 368, "as in the kernel");
static_assert(sizeof(struct taskstats_record) == 416, "as in the kernel");
