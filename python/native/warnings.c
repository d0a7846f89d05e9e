/* Keeps the warnings of the library until Python asks for them, and what one call of the library
 * needs. See native.h. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* A warning in a list; its text follows in the same memory. */
struct warning {
    struct warning *next;
    char text[];
};

/* A list of warnings. Any thread may add to it at `end`. */
struct native_warnings {
    pthread_mutex_t lock;
    struct warning *first, **end;
};

struct native_warnings *native_warnings_create(void)
{
    struct native_warnings *warnings = calloc(1, sizeof *warnings);
    if (!warnings)
        return NULL;
    pthread_mutex_init(&warnings->lock, NULL);
    warnings->end = &warnings->first;
    return warnings;
}

/* Frees a list of warnings. */
static void free_all(struct warning *warning)
{
    while (warning) {
        struct warning *next = warning->next;
        free(warning);
        warning = next;
    }
}

void native_warnings_destroy(struct native_warnings *warnings)
{
    if (!warnings)
        return;
    free_all(warnings->first);
    pthread_mutex_destroy(&warnings->lock);
    free(warnings);
}

/* Without memory the warning is lost; a call of the library does not fail for that. */
void native_warnings_add(void *user, const char *message)
{
    struct native_warnings *warnings = user;
    size_t size = strlen(message) + 1;
    struct warning *warning = malloc(sizeof *warning + size);
    if (!warning)
        return;
    warning->next = NULL;
    memcpy(warning->text, message, size);
    pthread_mutex_lock(&warnings->lock);
    *warnings->end = warning;
    warnings->end = &warning->next;
    pthread_mutex_unlock(&warnings->lock);
}

/* Takes the list with the lock held, and makes Python objects of it afterwards. */
PyObject *native_warnings_collect(struct native_warnings *warnings)
{
    PyObject *list = PyList_New(0);
    if (!list)
        return NULL;
    pthread_mutex_lock(&warnings->lock);
    struct warning *first = warnings->first;
    warnings->first = NULL;
    warnings->end = &warnings->first;
    pthread_mutex_unlock(&warnings->lock);
    for (struct warning *warning = first; warning && list; warning = warning->next) {
        PyObject *text =
            PyUnicode_DecodeUTF8(warning->text, (Py_ssize_t)strlen(warning->text), "replace");
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    free_all(first);
    return list;
}

/* Makes the list of what is held, and one for warnings. */
bool native_call_begin(struct native_call *call)
{
    *call = (struct native_call){PyList_New(0), native_warnings_create()};
    if (call->held && call->warnings)
        return true;
    PyErr_NoMemory();
    native_call_end(call, NULL);
    return false;
}

PyObject *native_call_end(struct native_call *call, PyObject *result)
{
    native_warnings_destroy(call->warnings);
    Py_XDECREF(call->held);
    return result;
}
