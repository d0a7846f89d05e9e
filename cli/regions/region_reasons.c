#include "regions/region_reasons.h"

#include "regions/region_program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Without a file of any collector: perhaps none could write one, and had no place to say so. */
static bool note_folder(const char *folder, struct notes *notes)
{
    enum { SMALLEST = 128 * 1024 }; /* a log and its status */
    struct statvfs disk;
    if (access(folder, W_OK | X_OK) != 0)
        notes_add(notes, "No region was recorded: folder %.300s: %s", folder,
            errno == ENOENT ? "it was removed while the command ran" : strerror(errno));
    else if (statvfs(folder, &disk) == 0 && disk.f_bavail * disk.f_frsize < SMALLEST)
        notes_add(notes, "No region was recorded: the disk with folder %.300s is full.", folder);
    else
        return false;
    return true;
}

/* Whether the hook of Python has left that file: see sitecustomize.py. */
static bool has_fit(const struct region_question *question, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/python-%s.fits", question->folder, name);
    return access(path, F_OK) == 0;
}

/* Notes which of the named Python functions never ran. */
static bool note_functions(const struct region_question *question, struct notes *notes)
{
    char missing[sizeof question->sources->functions + 256] = "", number[16];
    size_t used = 0;
    const char *at = question->sources->functions;
    if (!has_fit(question, "started")) {
        notes_add(
            notes, "python: no Python with start-up hooks ran (-I, -E and -S switch them off).");
        return true;
    }
    for (int i = 0; *at; i++) {
        size_t length = strcspn(at, ",");
        snprintf(number, sizeof number, "%d", i);
        if (!has_fit(question, number) && used + length + 3 < sizeof missing)
            used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%.*s",
                used > 0 ? ", " : "", (int)length, at);
        at += length + (at[length] == ',');
    }
    if (used > 0)
        notes_add(
            notes, "python: no function written in Python was called that matches %s.", missing);
    return used > 0;
}

/* Notes that GCC's OpenMP announces no regions. */
static bool note_openmp(const struct region_question *question, struct notes *notes)
{
    if (!region_program_needs(question->command, "libgomp.so"))
        return false;
    notes_add(notes,
        "ompt: %.200s has GCC's runtime of OpenMP (libgomp), which announces nothing. LLVM's takes "
        "its place with LD_PRELOAD=libomp.so.5.",
        question->command);
    return true;
}

static bool note_mpi(struct notes *notes)
{
    notes_add(notes, "mpi: no process of the command loaded an MPI library and called it.");
    return true;
}

void region_reasons_note(
    struct region_question question, const struct region_logs_summary *summary, struct notes *notes)
{
    const struct region_sources *sources = question.sources;
    bool is_nothing = !summary->has_regions, is_answered = question.is_answered;
    if (is_nothing && summary->processes == 0 && note_folder(question.folder, notes))
        return;
    if (sources->wanted[REGION_PYTHON])
        is_answered |= note_functions(&question, notes);
    if (sources->wanted[REGION_OMPT] && !summary->has_ompt && (is_nothing || sources->are_named))
        is_answered |= note_openmp(&question, notes);
    if (sources->wanted[REGION_MPI] && !summary->has_mpi)
        is_answered |= note_mpi(notes);
    if (!is_nothing || is_answered)
        return;
    if (summary->processes > 0)
        notes_add(notes, "No process of the command announced a region that was recorded.");
    else
        notes_add(notes,
            "No process of the command announced a region. Programs that are linked statically, or "
            "change their user, record none.");
}
