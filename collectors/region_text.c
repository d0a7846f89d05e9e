#include "region_text.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Wide characters ---- */

/* Encodes a character as UTF-8. It does not use wcrtomb(), as the program's locale may have another
 * encoding. */
static size_t encode(uint32_t c, char bytes[4])
{
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3f));
    bytes[0] = (char)(first[length] | c);
    return length;
}

const char *region_text_of_wide(const wchar_t *wide, char *buffer, size_t size)
{
    size_t used = 0;
    if (!wide)
        return NULL;
    for (; *wide; wide++) {
        char bytes[4];
        size_t length = encode((uint32_t)*wide, bytes);
        if (used + length >= size)
            break;
        for (size_t i = 0; i < length; i++)
            buffer[used++] = bytes[i];
    }
    buffer[used] = '\0';
    return buffer;
}

/* ---- Addresses ---- */

struct mapped {
    const unsigned char *bytes;
    uint64_t size;
};

/* Returns a part of the file; NULL: it is beyond the end. */
static const void *part(const struct mapped *file, uint64_t at, uint64_t size)
{
    return at <= file->size && size <= file->size - at ? file->bytes + at : NULL;
}

/* Returns a section by its number; NULL: there is none. */
static const Elf64_Shdr *section(const struct mapped *file, const Elf64_Ehdr *header, unsigned i)
{
    if (i >= header->e_shnum || header->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return part(file, header->e_shoff + (uint64_t)i * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

/* Finds the function that contains an address in a symbol table; NULL: none does. */
static const char *find_in_table(
    const struct mapped *file, const Elf64_Shdr *table, const Elf64_Shdr *texts, uint64_t address)
{
    const Elf64_Sym *symbols = part(file, table->sh_offset, table->sh_size);
    const char *names = part(file, texts->sh_offset, texts->sh_size);
    if (!symbols || !names || texts->sh_size == 0 || names[texts->sh_size - 1] != '\0')
        return NULL;
    for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const Elf64_Sym *symbol = &symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && address >= symbol->st_value &&
            address - symbol->st_value < symbol->st_size && symbol->st_name < texts->sh_size)
            return names + symbol->st_name;
    }
    return NULL;
}

/* Finds the function that contains an address, as the file numbers them. */
static const char *find(const struct mapped *file, uint64_t address)
{
    const Elf64_Ehdr *header = part(file, 0, sizeof *header);
    const char *found = NULL;
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    for (unsigned i = 0; i < header->e_shnum && !found; i++) {
        const Elf64_Shdr *table = section(file, header, i);
        const Elf64_Shdr *texts = table ? section(file, header, table->sh_link) : NULL;
        if (texts && (table->sh_type == SHT_SYMTAB || table->sh_type == SHT_DYNSYM))
            found = find_in_table(file, table, texts, address);
    }
    return found;
}

/* Writes the name of the function at an address, from the symbols of its file. Returns false if
 * they have none. */
static bool find_in_file(const Dl_info *info, const void *address, char *name, size_t size)
{
    struct stat status;
    int fd = open(info->dli_fname, O_RDONLY | O_CLOEXEC);
    if (fd < 0) /* the name of the program as it was called may be relative to another folder */
        fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    struct mapped file = {MAP_FAILED, 0};
    if (fstat(fd, &status) == 0 && status.st_size > 0)
        file = (struct mapped){mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0),
            (uint64_t)status.st_size};
    close(fd);
    if (file.bytes == MAP_FAILED)
        return false;
    /* A program that is not relocatable has the addresses of its file. */
    const Elf64_Ehdr *header = part(&file, 0, sizeof *header);
    uint64_t base = header && header->e_type == ET_EXEC ? 0 : (uint64_t)(uintptr_t)info->dli_fbase;
    const char *found = find(&file, (uint64_t)(uintptr_t)address - base);
    if (found)
        snprintf(name, size, "%s", found);
    munmap((void *)file.bytes, (size_t)file.size);
    return found != NULL;
}

const char *region_symbol(const void *address, char *name, size_t size)
{
    Dl_info info = {0};
    if (!dladdr(address, &info) || !info.dli_fname) {
        snprintf(name, size, "%p", address);
        return name;
    }
    if (find_in_file(&info, address, name, size))
        return name;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(name, size, "%s+0x%lx", slash ? slash + 1 : info.dli_fname,
        (unsigned long)((uintptr_t)address - (uintptr_t)info.dli_fbase));
    return name;
}
