/*
 * Records what OpenMP programs do, as their runtime reports it (OMPT). LLVM's and Intel's runtimes
 * load what OMP_TOOL_LIBRARIES names, and call ompt_start_tool(). Regions are named after the
 * function that contains them.
 */
#include "region_text.h"
#include "region_thread.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What OpenMP defines (omp-tools.h) ---- */

enum { SCOPE_BEGIN = 1, SCOPE_END = 2 };
enum {
    CALLBACK_PARALLEL_BEGIN = 3,
    CALLBACK_PARALLEL_END = 4,
    CALLBACK_IMPLICIT_TASK = 7,
    CALLBACK_WORK = 20,
    CALLBACK_SYNC_REGION = 23,
};

union ompt_data {
    uint64_t value;
    void *pointer;
};

typedef void (*function)(void);
typedef function (*lookup_function)(const char *name);

struct start_result {
    int (*initialize)(lookup_function lookup, int device, union ompt_data *data);
    void (*finalize)(union ompt_data *data);
    union ompt_data data;
};

/* ---- Names ---- */

#define PLACES 4096

static struct regions ompt;
static struct region_domain *parallel, *task, *work, *sync_domain;

/* Names of the functions at addresses that were looked up; never freed. */
static struct place {
    _Atomic(const void *) address;
    _Atomic(const char *) name;
} places[PLACES];

/* What compilers append to the name of a function for its part that threads run. */
static const char *const outlined[] = {".omp_outlined", "._omp_fn."};

/* Whether the symbol is such a part without the name of its function (LLVM before 17). */
static bool is_nameless(const char *name)
{
    return strncmp(name, outlined[0], strlen(outlined[0])) == 0;
}

/* Makes the name of the function at an address, which the caller frees. */
static char *make_name(const void *address)
{
    char name[512];
    region_symbol(address, name, sizeof name);
    for (size_t i = 0; i < sizeof outlined / sizeof *outlined; i++) {
        char *suffix = strstr(name, outlined[i]);
        if (suffix && suffix > name)
            *suffix = '\0';
    }
    /* Demangle C++ names if the program has the library for that. The caller frees the text. */
    typedef char *demangle_function(const char *, char *, size_t *, int *);
    demangle_function *demangle = (demangle_function *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    int status = -1;
    char *text =
        demangle && strncmp(name, "_Z", 2) == 0 ? demangle(name, NULL, NULL, &status) : NULL;
    return text ? text : strdup(name);
}

/* Returns the name of the function at an address. If two threads look it up at once, one copy of
 * the name stays unused. */
static const char *name_of(const void *address)
{
    size_t first = ((uintptr_t)address ^ (uintptr_t)address >> 12) % PLACES;
    if (!address)
        return "unknown";
    for (size_t i = 0; i < 16; i++) {
        struct place *place = &places[(first + i) % PLACES];
        const void *there = NULL;
        if (atomic_load(&place->address) != address &&
            !atomic_compare_exchange_strong(&place->address, &there, address) && there != address)
            continue;
        const char *name = atomic_load(&place->name);
        if (!name) {
            name = make_name(address);
            atomic_store(&place->name, name);
        }
        return name;
    }
    return "other functions";
}

/* ---- Threads and their parallel regions ---- */

/* The threads of one parallel region. */
struct team {
    const char *name;   /* name of the region */
    struct team *outer; /* the region that the same thread had begun before */
    _Atomic(struct worker *) workers;
};

/*
 * A thread: the regions that it began, and its part in the region of another thread. At the end of
 * a region, a worker leaves a barrier and its task ends. LLVM's runtime lets it report both late,
 * when it is needed again, or never. So the thread that began the region ends both for the worker,
 * at the end of the region.
 */
struct worker {
    struct team *begun; /* the innermost one; the data that the runtime passes at its end may be
                           another's */
    const char *name;   /* name of the region that it works for */
    struct worker *next;
    _Atomic int state;
    struct region_arrival arrival;
};

enum {
    WORKER_ENDS_ITSELF,
    WORKER_ARRIVED, /* at a barrier, which may be the last one */
    WORKER_ENDING,  /* the thread that began the region is ending its ranges */
    WORKER_ENDED,
};

static pthread_key_t worker_key;

/* Returns the state of the calling thread. NULL without memory. */
static struct worker *this_worker(void)
{
    struct worker *worker = pthread_getspecific(worker_key);
    if (worker)
        return worker;
    worker = calloc(1, sizeof *worker);
    if (worker && pthread_setspecific(worker_key, worker) == 0)
        return worker;
    free(worker);
    return NULL;
}

/* Whether the calling thread must end its range itself. `worker` NULL: it began the region. */
static bool ends_itself(struct worker *worker)
{
    int state = WORKER_ARRIVED;
    if (!worker || atomic_compare_exchange_strong(&worker->state, &state, WORKER_ENDS_ITSELF))
        return true;
    while (state == WORKER_ENDING) {
        sched_yield();
        state = atomic_load(&worker->state);
    }
    return state == WORKER_ENDS_ITSELF;
}

/* Returns the calling thread's state if it runs that task for the region of another thread; else
 * NULL. */
static struct worker *worker_of(const union ompt_data *of_task)
{
    struct worker *worker = of_task && of_task->pointer ? this_worker() : NULL;
    return worker && of_task->pointer == worker ? worker : NULL;
}

/* Returns the name of the function that contains an address of the code that a task runs. */
static const char *place_in(const union ompt_data *of_task, const void *code)
{
    const char *name = name_of(code);
    if (code && !is_nameless(name))
        return name;
    struct worker *worker = worker_of(of_task), *mine = this_worker();
    const char *of_region = worker ? worker->name : mine && mine->begun ? mine->begun->name : NULL;
    return of_region ? of_region : name;
}

/* ---- Callbacks ---- */

static void parallel_begin(union ompt_data *encountering, const void *frame, union ompt_data *data,
    unsigned threads, int flags, const void *code)
{
    (void)frame, (void)threads, (void)flags;
    struct worker *mine = this_worker();
    struct team *team = mine ? calloc(1, sizeof *team) : NULL;
    const char *name = place_in(encountering, code);
    if (team) {
        team->name = name;
        team->outer = mine->begun;
        mine->begun = team;
    }
    if (data)
        data->pointer = team;
    region_push(&ompt, parallel, name);
}

static void parallel_end(
    union ompt_data *data, union ompt_data *encountering, int flags, const void *code)
{
    (void)data, (void)encountering, (void)flags, (void)code;
    struct worker *mine = this_worker();
    struct team *team = mine ? mine->begun : NULL;
    if (team) {
        /* This thread began the region: it ends the ranges of the workers that have arrived. */
        struct worker *next;
        for (struct worker *worker = atomic_load(&team->workers); worker; worker = next) {
            int expected = WORKER_ARRIVED;
            next = worker->next;
            if (!atomic_compare_exchange_strong(&worker->state, &expected, WORKER_ENDING))
                continue;
            region_pop_of(&ompt, sync_domain, &worker->arrival);
            region_pop_of(&ompt, task, &worker->arrival);
            atomic_store(&worker->state, WORKER_ENDED);
        }
        mine->begun = team->outer;
    }
    region_pop(&ompt, parallel);
    free(team);
}

/* Begins the task of a thread, and adds the thread to the workers of the region unless it began the
 * region. */
static void begin_task(union ompt_data *of_parallel, union ompt_data *of_task, unsigned index)
{
    struct team *team = of_parallel ? of_parallel->pointer : NULL;
    struct worker *worker = team && of_task && index > 0 ? this_worker() : NULL;
    if (worker) {
        atomic_store(&worker->state, WORKER_ENDS_ITSELF);
        worker->name = team->name;
        worker->next = atomic_load(&team->workers);
        while (!atomic_compare_exchange_weak(&team->workers, &worker->next, worker))
            ;
    }
    if (of_task)
        of_task->pointer = worker;
    region_push(&ompt, task, team ? team->name : name_of(NULL));
}

/* Begins and ends the work of each thread of a parallel region. The initial task is the program
 * itself, and not recorded. */
static void implicit_task(int endpoint, union ompt_data *of_parallel, union ompt_data *of_task,
    unsigned threads, unsigned index, int flags)
{
    enum { IS_INITIAL = 1 };
    (void)threads;
    if (flags & IS_INITIAL)
        return;
    if (endpoint == SCOPE_BEGIN)
        begin_task(of_parallel, of_task, index);
    else if (endpoint == SCOPE_END && ends_itself(worker_of(of_task)))
        region_pop(&ompt, task);
}

/* Begins a range called "KIND in PLACE". */
static void begin_scope(struct region_domain *domain, const char *kind, const char *place)
{
    char name[600];
    snprintf(name, sizeof name, "%s in %s", kind, place);
    region_push(&ompt, domain, name);
}

/* Begins and ends the worksharing of a thread. */
static void on_work(int kind, int endpoint, union ompt_data *of_parallel, union ompt_data *of_task,
    uint64_t count, const void *code)
{
    enum { LOOP_STATIC = 10, LOOP_OTHER = 13 };
    static const char *const kinds[] = {"work", "loop", "sections", "single", "single (others)",
        "workshare", "distribute", "taskloop", "scope"};
    (void)of_parallel, (void)count;
    if (kind >= LOOP_STATIC && kind <= LOOP_OTHER) /* LLVM since 18 tells how a loop is divided */
        kind = 1;
    bool is_known = kind > 0 && (size_t)kind < sizeof kinds / sizeof *kinds;
    if (endpoint == SCOPE_BEGIN)
        begin_scope(work, kinds[is_known ? kind : 0], place_in(of_task, code));
    else if (endpoint == SCOPE_END)
        region_pop(&ompt, work);
}

/* Begins and ends a wait. In workers, the barrier at the end of a region has no address. */
static void on_sync(int kind, int endpoint, union ompt_data *of_parallel, union ompt_data *of_task,
    const void *code)
{
    enum { BARRIER = 1, IMPLICIT = 2, OF_WORKSHARE = 8, OF_TEAMS = 10 };
    static const char *const kinds[] = {"wait", "barrier", "implicit barrier", "explicit barrier",
        "barrier of the runtime", "taskwait", "taskgroup", "reduction", "implicit barrier",
        "implicit barrier", "barrier of teams"};
    (void)of_parallel;
    bool is_known = kind > 0 && (size_t)kind < sizeof kinds / sizeof *kinds;
    bool may_be_last =
        kind == BARRIER || kind == IMPLICIT || (kind >= OF_WORKSHARE && kind <= OF_TEAMS);
    struct worker *worker = may_be_last ? worker_of(of_task) : NULL;
    if (endpoint == SCOPE_BEGIN)
        begin_scope(sync_domain, kinds[is_known ? kind : 0], place_in(of_task, code));
    else if (endpoint == SCOPE_END && ends_itself(worker))
        region_pop(&ompt, sync_domain);
    if (endpoint == SCOPE_BEGIN && worker) {
        region_arrive(&ompt, &worker->arrival);
        atomic_store(&worker->state, WORKER_ARRIVED);
    }
}

/* ---- Attaching ---- */

static int initialize(lookup_function lookup, int device, union ompt_data *data)
{
    static const struct {
        int id;
        function function;
    } callbacks[] = {
        {CALLBACK_PARALLEL_BEGIN, (function)parallel_begin},
        {CALLBACK_PARALLEL_END, (function)parallel_end},
        {CALLBACK_IMPLICIT_TASK, (function)implicit_task},
        {CALLBACK_WORK, (function)on_work},
        {CALLBACK_SYNC_REGION, (function)on_sync},
    };
    (void)device, (void)data;
    int (*set_callback)(int, function) = (int (*)(int, function))lookup("ompt_set_callback");
    if (!set_callback)
        return 0;
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        set_callback(callbacks[i].id, callbacks[i].function);
    return 1;
}

static void finalize(union ompt_data *data)
{
    (void)data;
}

static void open_once(void)
{
    if (!regions_open(&ompt, "ompt") || pthread_key_create(&worker_key, free) != 0)
        return;
    task = regions_domain(&ompt, "task");
    work = regions_domain(&ompt, "work");
    sync_domain = regions_domain(&ompt, "sync");
    parallel = regions_domain(&ompt, "parallel");
}

__attribute__((visibility("default"))) struct start_result *ompt_start_tool(
    unsigned version, const char *runtime);

/* Called by each runtime in the process. */
struct start_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct start_result result = {initialize, finalize, {0}};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)version, (void)runtime;
    pthread_once(&once, open_once);
    return parallel && task && work && sync_domain ? &result : NULL;
}
