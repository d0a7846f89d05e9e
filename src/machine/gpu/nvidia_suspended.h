/*
 * NVIDIA GPUs as procfs and sysfs show them. Their library would resume suspended ones.
 */
#pragma once

#include "machine/gpu/gpu.h"
#include "machine/gpu/pci_address.h"

/* True when the PCI bus has an NVIDIA GPU; writes the address of the first. False sets errno: 0, or
 * why the bus cannot be read. */
bool nvidia_gpu_find(const char *sysfs_root, char address[PCI_ADDRESS_TEXT_SIZE]);

/*
 * False when no device of NVIDIA is on the PCI bus, by <procfs>/bus/pci/devices: one file, where
 * nvidia_gpu_find() reads one of each device, of which servers have hundreds. True also where the
 * file does not say. nvidia_on_bus_parse(): the same by its text.
 */
bool nvidia_may_be_on_bus(const char *procfs_root);
bool nvidia_on_bus_parse(const char *text);

/* True when there are NVIDIA GPUs on the PCI bus and every one is suspended. */
bool nvidia_all_suspended(const char *sysfs_root);

/* The GPUs in <procfs>/driver/nvidia/gpus: address, name and, where shown, UUID. Returns how many
 * were filled in. */
uint32_t nvidia_list_suspended(
    const char *procfs_root, struct gpu_device *devices, uint32_t capacity);

/* Reads the text of <procfs>/driver/nvidia/gpus/ADDRESS/information into name and uuid. */
void nvidia_information_parse(const char *text, struct gpu_device *device);
