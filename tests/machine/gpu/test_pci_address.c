#include "machine/gpu/pci_address.h"
#include "testing.h"

TEST(reads_every_form_of_an_address)
{
    static const char *const spellings[] = {
        "0000:0a:1f.3", "0A:1F.3", "00000000:0A:1F.3", "0:a:1f.3"};
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        struct pci_address address;
        char text[PCI_ADDRESS_TEXT_SIZE];
        assert_true(pci_address_parse(spellings[i], &address));
        pci_address_format(&address, text);
        assert_string_equal(text, "0000:0a:1f.3");
    }
    struct pci_address far;
    char text[PCI_ADDRESS_TEXT_SIZE];
    assert_true(pci_address_parse("10001:00:02.0", &far)); /* as VMD has them */
    pci_address_format(&far, text);
    assert_string_equal(text, "10001:00:02.0");
}

TEST(refuses_other_texts)
{
    static const char *const wrong[] = {"", "0", "0000", "00:00", "01.0", "0000:01:00",
        "0000:01:00.", "0000:01:00.8", "0000:01:20.0", "0000:100:00.0", "0:0:0:0.0", "GPU-1234",
        "0000:01:00.0 ", "000000000:01:00.0"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pci_address address;
        if (pci_address_parse(wrong[i], &address))
            fail_msg("\"%s\" was taken for an address", wrong[i]);
    }
}

RUN_TESTS(NULL, NULL)
