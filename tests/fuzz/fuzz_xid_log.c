/* Lines of the kernel's log: what is an error of a card has its address. */
#include "machine/gpu/nvidia_module.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pci_address address;
    uint32_t xid;
    char *line = malloc(size ? size : 1); /* of its own, so that every byte too far is seen */
    if (!line)
        abort();
    if (size)
        memcpy(line, data, size);
    if (xid_parse(line, size, &address, &xid) && (address.bus > 0xff || address.device > 0xff))
        abort();
    free(line);
    return 0;
}
