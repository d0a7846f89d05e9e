/* /proc/driver/nvidia/gpus/ADDRESS/information: name and UUID fit in their places. */
#include "machine/gpu/nvidia_module.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct gpu_device device = {.name = "NVIDIA GPU", .uuid = "0000:01:00.0"};
    nvidia_information_parse(text, &device);
    if (!memchr(device.name, '\0', sizeof device.name) ||
        !memchr(device.uuid, '\0', sizeof device.uuid) || !device.uuid[0])
        abort();
    free(text);
    return 0;
}
