/*
 * PCI addresses in the forms that tools use: "0000:01:00.0", "01:00.0", "00000000:01:00.0".
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pci_address {
    uint32_t domain, bus, device, function;
};

/* Enough for the text of any address. */
#define PCI_ADDRESS_TEXT_SIZE 24

/* Reads a whole text, upper or lower case; false when it is not a PCI address. */
bool pci_address_parse(const char *text, struct pci_address *address);

/* Writes it as in sysfs, "0000:01:00.0". */
void pci_address_format(const struct pci_address *address, char text[PCI_ADDRESS_TEXT_SIZE]);

bool pci_address_equal(const struct pci_address *a, const struct pci_address *b);
