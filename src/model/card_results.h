/*
 * The figures of a card (card.h) that results have, one row each. The members of struct gput_gpu,
 * the columns of results and the assignments in the ledger are made from these rows.
 */
#pragma once

/* clang-format off */

/* ROW(member, FIGURE, how, unit, meaning). `how`: a function of gpu_usage.h, card_usage_max() … */
#define CARD_RESULTS(ROW) \
    ROW(power_limit_watts, POWER_LIMIT, last, "watts", "limit of power that was enforced (last sample)") \
    ROW(min_graphics_clock_mhz, GRAPHICS_CLOCK, min, "megahertz", "clock of its processors (minimum)") \
    ROW(mean_graphics_clock_mhz, GRAPHICS_CLOCK, mean, "megahertz", "clock of its processors (mean)") \
    ROW(graphics_clock_limit_mhz, MAX_GRAPHICS_CLOCK, last, "megahertz", "highest clock that it allows") \
    ROW(max_temperature_celsius, TEMPERATURE, max, "degrees Celsius", "temperature of the chip (maximum)") \
    ROW(max_memory_temperature_celsius, MEMORY_TEMPERATURE, max, "degrees Celsius", "temperature of its memory (maximum)") \
    ROW(max_memory_busy_percent, MEMORY_BUSY, max, "percent", "share of time in which its memory was read or written (maximum)") \
    ROW(max_encoder_percent, ENCODER, max, "percent", "use of its video encoders (maximum)") \
    ROW(max_decoder_percent, DECODER, max, "percent", "use of its video decoders (maximum)") \
    ROW(power_cap_seconds, POWER_CAP_SECONDS, counted, "seconds", "slowed by its power limit, as its driver counted") \
    ROW(sync_boost_seconds, SYNC_BOOST_SECONDS, counted, "seconds", "slowed to the clocks of other cards, as its driver counted") \
    ROW(thermal_seconds, THERMAL_SECONDS, counted, "seconds", "slowed by the driver because of heat, as it counted") \
    ROW(hardware_thermal_seconds, HARDWARE_THERMAL_SECONDS, counted, "seconds", "slowed by the chip itself because of heat, as its driver counted") \
    ROW(power_brake_seconds, POWER_BRAKE_SECONDS, counted, "seconds", "slowed by a signal of the power supply, as its driver counted") \
    ROW(pcie_transmitted_bytes, PCIE_TRANSMITTED, counted, "bytes", "sent over PCIe by any process, at least: the driver's counter may begin anew between two readings") \
    ROW(pcie_received_bytes, PCIE_RECEIVED, counted, "bytes", "received over PCIe by any process, at least: the driver's counter may begin anew between two readings") \
    ROW(nvlink_transmitted_bytes, NVLINK_TRANSMITTED, counted, "bytes", "sent over NVLink by any process") \
    ROW(nvlink_received_bytes, NVLINK_RECEIVED, counted, "bytes", "received over NVLink by any process") \
    ROW(ecc_corrected_errors, ECC_CORRECTED, counted, NULL, "memory errors that were corrected") \
    ROW(ecc_uncorrected_errors, ECC_UNCORRECTED, counted, NULL, "memory errors that could not be corrected") \
    ROW(xid_errors, XID_ERRORS, counted, NULL, "its errors in the kernel's log (NVIDIA's Xid)") \
    ROW(mean_sm_active_percent, SM_ACTIVE, mean, "percent", "processors (SM) that had work (mean)") \
    ROW(mean_sm_occupancy_percent, SM_OCCUPANCY, mean, "percent", "warps in its processors, of those that fit (mean)") \
    ROW(mean_tensor_active_percent, TENSOR_ACTIVE, mean, "percent", "share of time in which tensor cores worked (mean)") \
    ROW(mean_fp64_active_percent, FP64_ACTIVE, mean, "percent", "share of time with arithmetic of 64 bits (mean)") \
    ROW(mean_fp32_active_percent, FP32_ACTIVE, mean, "percent", "share of time with arithmetic of 32 bits (mean)") \
    ROW(mean_fp16_active_percent, FP16_ACTIVE, mean, "percent", "share of time with arithmetic of 16 bits (mean)") \
    ROW(mean_dram_bandwidth_percent, DRAM_BANDWIDTH, mean, "percent", "bandwidth of its memory in use, of the highest (mean)") \
    ROW(mean_pcie_transmit_bytes_per_second, PCIE_TRANSMIT_RATE, mean, "bytes per second", "rate of sending over PCIe (mean)") \
    ROW(mean_pcie_receive_bytes_per_second, PCIE_RECEIVE_RATE, mean, "bytes per second", "rate of receiving over PCIe (mean)") \
    ROW(mean_nvlink_transmit_bytes_per_second, NVLINK_TRANSMIT_RATE, mean, "bytes per second", "rate of sending over NVLink (mean)") \
    ROW(mean_nvlink_receive_bytes_per_second, NVLINK_RECEIVE_RATE, mean, "bytes per second", "rate of receiving over NVLink (mean)")

/* ROW(member, FIGURE, unit, meaning): members of `now`, of the last sample, which reports leave out. */
#define CARD_RESULTS_NOW(ROW) \
    ROW(graphics_clock_mhz, GRAPHICS_CLOCK, "megahertz", "clock of its processors (last sample)") \
    ROW(temperature_celsius, TEMPERATURE, "degrees Celsius", "temperature of the chip (last sample)") \
    ROW(sm_active_percent, SM_ACTIVE, "percent", "processors (SM) that had work (last sample)") \
    ROW(sm_occupancy_percent, SM_OCCUPANCY, "percent", "warps in its processors, of those that fit (last sample)") \
    ROW(tensor_active_percent, TENSOR_ACTIVE, "percent", "share of time in which tensor cores worked (last sample)") \
    ROW(dram_bandwidth_percent, DRAM_BANDWIDTH, "percent", "bandwidth of its memory in use, of the highest (last sample)")
/* clang-format on */
