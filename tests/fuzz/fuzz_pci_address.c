/* PCI addresses: what is accepted is the same address as it is written. */
#include "machine/gpu/pci_address.h"

#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), written[PCI_ADDRESS_TEXT_SIZE];
    struct pci_address address, again;
    if (pci_address_parse(text, &address)) {
        pci_address_format(&address, written);
        if (!pci_address_parse(written, &again) || !pci_address_equal(&address, &again))
            abort();
    }
    free(text);
    return 0;
}
