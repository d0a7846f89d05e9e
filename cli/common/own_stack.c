#include "common/own_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifdef __GLIBC__
#include <ucontext.h>

#define STACK_BYTES ((size_t)2 << 20)

struct program {
    int (*run)(int argc, char **argv);
    int argc;
    char **argv;
    int status;
};

/* A context is given numbers alone: the two halves of a pointer. */
static void run_program(unsigned high, unsigned low)
{
    struct program *program = (struct program *)(uintptr_t)((uint64_t)high << 32 | low);
    program->status = program->run(program->argc, program->argv);
}

/* False: it was not run. */
static bool run_on(char *stack, struct program *program)
{
    ucontext_t here, there;
    uint64_t address = (uintptr_t)program;
    if (getcontext(&there) != 0)
        return false;
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = STACK_BYTES;
    there.uc_link = &here;
    makecontext(
        &there, (void (*)(void))run_program, 2, (unsigned)(address >> 32), (unsigned)address);
    return swapcontext(&here, &there) == 0;
}
#endif

int own_stack_run(int (*run)(int argc, char **argv), int argc, char **argv)
{
#ifdef __GLIBC__
    struct rlimit limit;
    struct program program = {.run = run, .argc = argc, .argv = argv};
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_BYTES) {
        char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (stack != MAP_FAILED && run_on(stack, &program))
            return program.status;
    }
#endif
    return run(argc, argv);
}
