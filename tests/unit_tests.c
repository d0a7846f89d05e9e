/*
 * main() of a program of unit tests, which has many files of them: it runs the one that is named,
 * such as base/test_str.c. So each file has a process of its own, and one link is enough for all.
 */
#include "testing.h"

#include <string.h>

static struct test_file *all_files;

void test_file_add(struct test_file *file)
{
    file->next = all_files;
    all_files = file;
}

/* Whether `path`, as the compiler was given it, is that of tests/NAME. */
static int is_path_of(const char *path, const char *name)
{
    static const char folder[] = "tests/";
    size_t length = strlen(path), name_length = strlen(name);
    if (length < name_length + sizeof folder - 1)
        return 0;
    path += length - name_length;
    return strcmp(path, name) == 0 &&
           strncmp(path - (sizeof folder - 1), folder, sizeof folder - 1) == 0;
}

int main(int argc, char **argv)
{
    for (struct test_file *file = all_files; file && argc == 2; file = file->next) {
        if (is_path_of(file->path, argv[1]))
            return file->run();
    }
    fprintf(stderr, "Usage: %s FILE, which is one of these below tests/:\n", argv[0]);
    for (struct test_file *file = all_files; file; file = file->next)
        fprintf(stderr, "  %s\n", file->path);
    return 2;
}
