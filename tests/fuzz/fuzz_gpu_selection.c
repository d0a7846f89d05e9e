#include "fuzz_text.h"
#include "machine/gpu/nvidia_module.h"
#include "machine/gpu/selection.h"

/* The texts that a user or the NVIDIA driver gives: a choice of GPUs, and a GPU's information. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct gpu_device devices[] = {
        {.uuid = "GPU-1111", .pci_address = "0000:01:00.0"},
        {.uuid = "0000:00:02.0", .pci_address = "0000:00:02.0"},
    };
    struct gpu_device device = {0};
    struct gput_error error;
    struct pci_address address;
    char *text = fuzz_text(data, size);
    gpu_selection_check(text, devices, 2, &error);
    gpu_selection_has(text, &devices[1], 1);
    nvidia_information_parse(text, &device);
    pci_address_parse(text, &address);
    free(text);
    return 0;
}
