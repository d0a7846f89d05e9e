/*
 * Preloaded, sorts as well as the libc does, but elements that compare equal are reversed: qsort()
 * need not be stable, and is not in musl, nor in glibc from 2.37 on. What a program starts sorts as
 * it did.
 */
/* Everything else is built to be hidden. */
#pragma GCC visibility push(default)

#include <stdlib.h>
#include <string.h>

static __attribute__((constructor)) void leave_others_alone(void)
{
    unsetenv("LD_PRELOAD");
}

struct sort {
    char *items, *merged;
    size_t size;
    int (*compare)(const void *, const void *);
};

/* Of equal ones the later goes first. */
static void merge_sort(const struct sort *sort, size_t first, size_t end)
{
    size_t middle = first + (end - first) / 2, left = first, right = middle, size = sort->size;
    if (end - first < 2)
        return;
    merge_sort(sort, first, middle);
    merge_sort(sort, middle, end);
    for (size_t i = first; i < end; i++) {
        int later = left == middle || (right < end && sort->compare(sort->items + right * size,
                                                          sort->items + left * size) <= 0);
        memcpy(sort->merged + i * size, sort->items + (later ? right++ : left++) * size, size);
    }
    memcpy(sort->items + first * size, sort->merged + first * size, (end - first) * size);
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    struct sort sort = {items, malloc(count * size + 1), size, compare};
    if (!sort.merged)
        abort();
    merge_sort(&sort, 0, count);
    free(sort.merged);
}
