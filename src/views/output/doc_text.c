#include "views/output/doc_text.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

#define INDENT 3
#define DECIMALS 3
#define MIN_SHOWN 0.0005

/* Words of keys that are not written as they are. */
static const struct {
    const char *word;
    const char *text;
} words[] = {
    {"co2e", "CO2e"},
    {"cpu", "CPU"},
    {"dram", "DRAM"},
    {"gpu", "GPU"},
    {"cpus", "CPUs"},
    {"gpus", "GPUs"},
    {"ram", "RAM"},
    {"rss", "RSS"},
    {"io", "I/O"},
    {"id", "ID"},
    {"pid", "PID"},
    {"oom", "OOM"},
    {"n", "number of"},
    {"uuid", "UUID"},
    {"pci", "PCI"},
    {"pcie", "PCIe"},
    {"nvlink", "NVLink"},
    {"mhz", "MHz"},
    {"sm", "SM"},
    {"amd", "AMD"},
    {"nvml", "NVML"},
    {"rapl", "RAPL"},
};

/* Appends a word of a key, in capital letters where it is an abbreviation. */
static void append_word(const char *word, size_t length, struct str *text)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0) {
            str_append(text, words[i].text);
            return;
        }
    }
    str_append_bytes(text, word, length);
}

void doc_text_label(const char *key, struct str *text)
{
    size_t start = text->length;
    while (*key) {
        size_t length = strcspn(key, "_");
        if (text->length > start)
            str_append_char(text, ' ');
        append_word(key, length, text);
        key += length;
        key += strspn(key, "_");
    }
    if (!text->failed && text->length > start) {
        char *first = &text->data[start];
        if (*first >= 'a' && *first <= 'z')
            *first = (char)(*first - 'a' + 'A');
    }
}

/* Three places, or as many that not all of it is rounded away. */
static size_t format_number(const struct doc *doc, char *number)
{
    double value = doc->number;
    if (!doc->keeps_small || value == 0 || fabs(value) >= MIN_SHOWN)
        return number_format_rounded(value, DECIMALS, number);
    int places = DECIMALS - 1 - (int)floor(log10(fabs(value)));
    return number_format_double(places <= 15 ? number_round(value, places) : value, number);
}

/* Writes the members or items of a value, one a line, and what is below them further to the
 * right. */
static void write_children(const struct doc *parent, size_t indent, struct str *text)
{
    for (const struct doc *child = parent->first; child; child = child->next) {
        str_append_repeated(text, ' ', indent);
        if (parent->kind == DOC_ARRAY && !child->label)
            str_append_char(text, '-');
        else {
            if (child->label)
                str_append(text, child->label);
            else
                doc_text_label(child->key ? child->key : "", text);
            str_append_char(text, ':');
        }
        if (child->kind == DOC_OBJECT || child->kind == DOC_ARRAY) {
            str_append(text, child->first ? "\n" : " none\n");
            write_children(child, indent + INDENT, text);
        } else {
            str_append_char(text, ' ');
            /* Write a value that has none below it. */
            char number[NUMBER_TEXT_SIZE];
            switch (child->kind) {
            case DOC_BOOL:
                str_append(text, child->boolean ? "yes" : "no");
                break;
            case DOC_INT:
                str_append_int64(text, child->integer);
                break;
            case DOC_DOUBLE:
                str_append_bytes(text, number, format_number(child, number));
                break;
            case DOC_STRING:
                str_append(text, child->string);
                break;
            default:
                str_append(text, "n/a");
                break;
            }
            str_append_char(text, '\n');
        }
    }
}

void doc_text_write(const struct doc *object, struct str *text)
{
    write_children(object, 0, text);
}
