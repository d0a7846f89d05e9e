#include "regions/region_program.h"

#include "base/text.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Finds a program as execvp() does. */
static bool find_program(const char *command, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    if (strchr(command, '/'))
        return (size_t)snprintf(path, PATH_MAX, "%s", command) < PATH_MAX;
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *at;) {
        size_t length = strcspn(at, ":");
        int written =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", command);
        if (written > 0 && written < PATH_MAX && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* Whether a program changes its rights: the dynamic loader then ignores or unsets our variables. */
static bool changes_rights(int fd)
{
    struct stat info;
    bool is_known = fstat(fd, &info) == 0;
    if (is_known && info.st_mode & S_ISUID && info.st_uid != geteuid())
        return true;
    if (is_known && info.st_mode & S_ISGID && info.st_gid != getegid())
        return true;
    return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Whether an ELF file of this machine's size names no loader. */
static bool is_static(int fd, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        off_t at = (off_t)(header->e_phoff + (uint64_t)i * header->e_phentsize);
        if (pread(fd, &part, sizeof part, at) != sizeof part)
            return false;
        if (part.p_type == PT_INTERP)
            return false;
    }
    return true;
}

/* Reads the interpreter in the first line of a script. Returns false if there is none. */
static bool read_interpreter(const char *start, size_t length, char path[PATH_MAX])
{
    if (length < 3 || start[0] != '#' || start[1] != '!')
        return false;
    start += 2 + strspn(start + 2, " \t");
    size_t size = strcspn(start, " \t\n");
    snprintf(path, PATH_MAX, "%.*s", (int)size, start);
    return size > 0;
}

/* Returns the reason why collectors cannot be loaded into a program; NULL: none. `depth`: maximum
 * number of interpreters to follow. */
static const char *obstacle_of(const char *command, int depth)
{
    char path[PATH_MAX], start[256] = "", interpreter[PATH_MAX];
    Elf64_Ehdr header = {0};
    const char *obstacle = NULL;
    if (!find_program(command, path))
        return NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    ssize_t length = read(fd, start, sizeof start - 1);
    if (length >= (ssize_t)sizeof header)
        memcpy(&header, start, sizeof header);
    bool is_elf = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (is_elf && header.e_ident[EI_CLASS] != ELFCLASS64)
        obstacle = "is a 32-bit program";
    else if (is_elf && is_static(fd, &header))
        obstacle = "is linked statically";
    else if (is_elf && changes_rights(fd))
        obstacle = "changes its user or has capabilities";
    close(fd);
    bool is_script = length > 0 && read_interpreter(start, (size_t)length, interpreter);
    if (is_script && depth > 0 && !text_ends_with(interpreter, "/env"))
        return obstacle_of(interpreter, depth - 1);
    return obstacle;
}

const char *region_program_obstacle(const char *command)
{
    return obstacle_of(command, 4); /* as many as the kernel follows */
}

/* ---- The libraries that it is linked to ---- */

struct image {
    const unsigned char *bytes;
    uint64_t size;
};

/* Returns a part of the file; NULL: it is beyond the end. */
static const void *part_of(const struct image *image, uint64_t at, uint64_t size)
{
    return at <= image->size && size <= image->size - at ? image->bytes + at : NULL;
}

/* Returns the segment of a type. If there are several, it is the one that contains the address. */
static const Elf64_Phdr *find_segment(
    const struct image *image, const Elf64_Ehdr *header, uint32_t type, uint64_t address)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        const Elf64_Phdr *part =
            part_of(image, header->e_phoff + (uint64_t)i * header->e_phentsize, sizeof *part);
        if (part && part->p_type == type &&
            (type == PT_DYNAMIC || address - part->p_vaddr < part->p_filesz))
            return part;
    }
    return NULL;
}

/* Whether a program is linked to a library. */
static bool needs(const struct image *image, const char *library)
{
    const Elf64_Ehdr *header = part_of(image, 0, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    const Elf64_Phdr *dynamic = find_segment(image, header, PT_DYNAMIC, 0);
    const Elf64_Dyn *entries =
        dynamic ? part_of(image, dynamic->p_offset, dynamic->p_filesz) : NULL;
    size_t count = entries ? dynamic->p_filesz / sizeof *entries : 0;
    uint64_t names = 0;
    for (size_t i = 0; i < count; i++)
        names = entries[i].d_tag == DT_STRTAB ? entries[i].d_un.d_ptr : names;
    const Elf64_Phdr *texts = find_segment(image, header, PT_LOAD, names);
    for (size_t i = 0; i < count && texts; i++) {
        uint64_t at = names - texts->p_vaddr + texts->p_offset + entries[i].d_un.d_val;
        const char *name =
            entries[i].d_tag == DT_NEEDED ? part_of(image, at, strlen(library)) : NULL;
        if (name && memcmp(name, library, strlen(library)) == 0)
            return true;
    }
    return false;
}

bool region_program_needs(const char *command, const char *library)
{
    char path[PATH_MAX];
    struct stat info;
    bool found = false;
    int fd = find_program(command, path) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        struct image image = {MAP_FAILED, (uint64_t)info.st_size};
        image.bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (image.bytes != MAP_FAILED) {
            found = needs(&image, library);
            munmap((void *)image.bytes, image.size);
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}
