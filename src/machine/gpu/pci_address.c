#include "machine/gpu/pci_address.h"

#include <stdio.h>

/* Parses hexadecimal digits; NULL when there are none, or more than `max_digits`. */
static const char *parse_hex(const char *text, int max_digits, uint32_t *value)
{
    *value = 0;
    int digits = 0;
    for (;; text++, digits++) {
        uint32_t digit;
        if (*text >= '0' && *text <= '9')
            digit = (uint32_t)(*text - '0');
        else if (*text >= 'a' && *text <= 'f')
            digit = (uint32_t)(*text - 'a') + 10;
        else if (*text >= 'A' && *text <= 'F')
            digit = (uint32_t)(*text - 'A') + 10;
        else
            break;
        if (digits == max_digits)
            return NULL;
        *value = *value << 4 | digit;
    }
    return digits ? text : NULL;
}

bool pci_address_parse(const char *text, struct pci_address *address)
{
    uint32_t parts[3];
    int count = 0;
    for (;;) {
        text = parse_hex(text, 8, &parts[count]);
        if (!text)
            return false;
        count++;
        if (*text != ':' || count == 3)
            break;
        text++;
    }
    if (*text != '.' || count < 2)
        return false;
    uint32_t function;
    text = parse_hex(text + 1, 1, &function);
    if (!text || *text)
        return false;
    *address = (struct pci_address){
        .domain = count == 3 ? parts[0] : 0,
        .bus = parts[count - 2],
        .device = parts[count - 1],
        .function = function,
    };
    return address->bus <= 0xff && address->device <= 0x1f && function <= 7;
}

void pci_address_format(const struct pci_address *address, char text[PCI_ADDRESS_TEXT_SIZE])
{
    snprintf(text, PCI_ADDRESS_TEXT_SIZE, "%04x:%02x:%02x.%x", address->domain, address->bus & 0xff,
        address->device & 0xff, address->function & 0xf);
}

bool pci_address_equal(const struct pci_address *a, const struct pci_address *b)
{
    return a->domain == b->domain && a->bus == b->bus && a->device == b->device &&
           a->function == b->function;
}
