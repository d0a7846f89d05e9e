/*
 * A program with ranges, as the library of NVTX makes it: it loads what NVTX_INJECTION64_PATH names
 * and calls through the table that the loaded library has filled. Its arguments are what it does,
 * in this order:
 *
 *     push:DOMAIN:NAME  pop:DOMAIN       in a domain; "-" is the default one, by its own functions
 *     start:DOMAIN:NAME  end             a range that any thread may end; the one started last
 *     name:NAME                          this thread
 *     sleep:MS
 *     threads:N:COUNT                    N threads that nest COUNT pairs each in another
 *     fork                               a child does the rest; this one waits and does so, too
 *     exec                               does the rest in the same process after execve()
 *     kill                               ends by SIGKILL
 *     unload                             closes the loaded library, as programs do with plugins
 *     leave                              ends by _exit()
 */
#include "nvtx-table.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *library;

static void load(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    if (library)
        *(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
    if (initialize && initialize(get_table) == 0) {
        dlclose(library);
        library = NULL;
    }
}

/* "d:name", of which `*name` is what follows the colon. */
static void *domain_of(char *text, const char **name)
{
    char *colon = strchr(text, ':');
    if (colon)
        *colon = '\0';
    *name = colon ? colon + 1 : "";
    void *domain = strcmp(text, "-") == 0 || !domain_create ? NULL : domain_create(text);
    if (colon)
        *colon = ':';
    return domain;
}

static struct attributes with_message(void *domain, const char *name)
{
    return (struct attributes){.version = 3,
        .size = sizeof(struct attributes),
        .message_type = 3,
        .message = register_string(domain, name)};
}

static void push(char *text)
{
    const char *name;
    void *domain = domain_of(text, &name);
    if (!domain && push_a)
        push_a(name);
    if (!domain)
        return;
    struct attributes attributes = with_message(domain, name);
    domain_push(domain, &attributes);
}

static void pop(char *text)
{
    const char *name;
    void *domain = domain_of(text, &name);
    if (domain)
        domain_pop(domain);
    else if (pop_default)
        pop_default();
}

static uint64_t started;

static void start(char *text)
{
    const char *name;
    void *domain = domain_of(text, &name);
    if (!domain && start_a)
        started = start_a(name);
    if (!domain)
        return;
    struct attributes attributes = with_message(domain, name);
    started = domain_start(domain, &attributes);
}

static void *end_started(void *unused)
{
    if (end_default)
        end_default(started);
    return unused;
}

static void *nest(void *count)
{
    for (long i = 0; push_a && i < (long)count; i++) {
        push_a("outer");
        push_a("inner");
        pop_default();
        pop_default();
    }
    return NULL;
}

static void run_threads(const char *text)
{
    long n_threads = 1, count = 1;
    pthread_t threads[64];
    sscanf(text, "%ld:%ld", &n_threads, &count);
    for (long i = 0; i < n_threads && i < 64; i++)
        pthread_create(&threads[i], NULL, nest, (void *)count);
    for (long i = 0; i < n_threads && i < 64; i++)
        pthread_join(threads[i], NULL);
}

static void pause_for(const char *milliseconds)
{
    long value = strtol(milliseconds, NULL, 10);
    struct timespec time = {value / 1000, value % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void unload(void)
{
    if (library)
        dlclose(library);
    library = NULL;
}

static void do_one(char *what)
{
    char *colon = strchr(what, ':'), *rest = colon ? colon + 1 : what;
    pthread_t other;
    if (strncmp(what, "push:", 5) == 0)
        push(rest);
    else if (strncmp(what, "pop:", 4) == 0)
        pop(rest);
    else if (strncmp(what, "start:", 6) == 0)
        start(rest);
    else if (strcmp(what, "end") == 0 && pthread_create(&other, NULL, end_started, NULL) == 0)
        pthread_join(other, NULL);
    else if (strncmp(what, "name:", 5) == 0 && name_os_thread)
        name_os_thread((uint32_t)gettid(), rest);
    else if (strcmp(what, "unload") == 0)
        unload();
    else if (strncmp(what, "sleep:", 6) == 0)
        pause_for(rest);
    else if (strncmp(what, "threads:", 8) == 0)
        run_threads(rest);
    else if (strcmp(what, "fork") == 0 && fork() > 0)
        wait(NULL);
    else if (strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(what, "leave") == 0)
        _exit(0);
}

int main(int argc, char **argv)
{
    load();
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "exec") == 0) {
            argv[i] = argv[0];
            execv("/proc/self/exe", argv + i);
        }
        do_one(argv[i]);
    }
    return 0;
}
