#include "files/marks/mapped_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PARTS_OF_A_TABLE 256

/* Tables are added and never freed: the handler may be reading them. */
struct table {
    struct part {
        _Atomic uintptr_t start; /* 0: free */
        _Atomic size_t length;
        atomic_bool *_Atomic cut;
        atomic_bool was_cut;
    } parts[PARTS_OF_A_TABLE];
    struct table *_Atomic next;
};

static struct table first;
static uintptr_t page_bytes;
static struct sigaction before;
static pthread_once_t installed = PTHREAD_ONCE_INIT;

/* Finds the part that an address lies in; NULL: none. */
static struct part *find(uintptr_t address)
{
    for (struct table *table = &first; table; table = atomic_load(&table->next)) {
        for (size_t i = 0; i < PARTS_OF_A_TABLE; i++) {
            uintptr_t start = atomic_load(&table->parts[i].start);
            if (start && address >= start && address - start < atomic_load(&table->parts[i].length))
                return &table->parts[i];
        }
    }
    return NULL;
}

/* mmap() is a plain system call, which is safe in a handler. */
static bool replace_page(uintptr_t address)
{
    void *page = (void *)(address & ~(page_bytes - 1));
    return mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0) != MAP_FAILED;
}

/* Handles SIGBUS: a page that is gone becomes memory of the process, and its file is marked as cut.
 */
static void on_fault(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct part *part = info->si_code == BUS_ADRERR ? find(address) : NULL;
    bool is_replaced = part && replace_page(address);
    atomic_bool *cut = is_replaced ? atomic_load(&part->cut) : NULL;
    if (is_replaced)
        atomic_store(&part->was_cut, true);
    if (cut)
        atomic_store(cut, true);
    if (!is_replaced) {
        /* Call the handler that was there before. */
        if (before.sa_flags & SA_SIGINFO)
            before.sa_sigaction(number, info, context);
        else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
            before.sa_handler(number);
        else /* the fault is raised again, with its default action */
            sigaction(number, &before, NULL);
    }
    errno = saved;
}

/* Installs the handler of SIGBUS, once a process. */
static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, NULL, &before); /* set before the handler can run */
    sigaction(SIGBUS, &action, NULL);
}

/* The table after this one, made when there is none. */
static struct table *next_table(struct table *table)
{
    struct table *next = atomic_load(&table->next);
    if (next)
        return next;
    struct table *made = calloc(1, sizeof *made);
    if (!made || atomic_compare_exchange_strong(&table->next, &next, made))
        return made;
    free(made);
    return next;
}

bool mapped_guard_add(void *start, size_t length, atomic_bool *cut)
{
    pthread_once(&installed, install);
    uintptr_t pages = (length + page_bytes - 1) & ~(page_bytes - 1);
    for (struct table *table = &first; table; table = next_table(table)) {
        for (size_t i = 0; i < PARTS_OF_A_TABLE; i++) {
            struct part *part = &table->parts[i];
            uintptr_t none = 0;
            if (atomic_compare_exchange_strong(&part->start, &none, (uintptr_t)start)) {
                atomic_store(&part->cut, cut);
                atomic_store(&part->was_cut, false);
                atomic_store(&part->length, pages);
                return true;
            }
        }
    }
    return false;
}

bool mapped_guard_has(const void *start)
{
    struct part *part = find((uintptr_t)start);
    return part && atomic_load(&part->start) == (uintptr_t)start;
}

bool mapped_guard_was_cut(const void *start)
{
    struct part *part = find((uintptr_t)start);
    return part && atomic_load(&part->was_cut);
}

void mapped_guard_remove(void *start)
{
    struct part *part = find((uintptr_t)start);
    if (!part || atomic_load(&part->start) != (uintptr_t)start)
        return;
    atomic_store(&part->length, 0);
    atomic_store(&part->start, 0);
}
