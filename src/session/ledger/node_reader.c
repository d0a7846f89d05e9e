#include "session/ledger/node_reader.h"

#include "base/clock.h"
#include "base/names.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* Between two attempts: a machine without a reader is one for so long. */
#define TRY_NS NS_PER_SECOND
/* One that reads from about the start on reads all the time. */
#define START_NS (NS_PER_SECOND / 2)

void node_reader_init(struct node_reader *reader)
{
    *reader = (struct node_reader){.reads = true, .lock = {.fd = -1}};
}

static const char *known(const char *text)
{
    return text ? text : "";
}

void node_reader_join(struct node_reader *reader, const struct launcher *launcher,
    launcher_variable *variable, void *user, int64_t now_ns)
{
    char name[32];
    if (launcher->rank < 0 || launcher->world_size == 1 || launcher->local_size == 1)
        return;
    snprintf(
        reader->self, sizeof reader->self, "rank %ld, process %ld", launcher->rank, (long)getpid());
    /*
     * The same for all ranks that one launcher has started on this machine, and for no others. A
     * launcher without an id of its own is known by the process that starts the ranks here.
     */
    char host[65] = "", text[1024];
    const char *start = variable(user, "PMIX_NAMESPACE");
    bool has_id = start || (launcher->job && launcher->step);
    gethostname(host, sizeof host - 1);
    int length = snprintf(text, sizeof text, "%s/%s/%s/%s/%s/%s/%ld/%ld", host,
        known(launcher->name), known(start), known(launcher->job), known(launcher->array_task),
        known(launcher->step), launcher->restarts, has_id ? 0 : (long)getppid());
    size_t used = length < (int)sizeof text ? (size_t)length : sizeof text - 1;
    snprintf(name, sizeof name, "%016" PRIx64, names_hash(text, used));
    node_lock_init(&reader->lock, node_lock_folders, name);
    reader->is_shared = true;
    reader->reads = node_lock_try(&reader->lock, reader->self);
    reader->since_ns = reader->tried_ns = now_ns;
}

void node_reader_update(struct node_reader *reader, int64_t now_ns)
{
    if (!reader->is_shared || now_ns - reader->tried_ns < TRY_NS)
        return;
    bool reads = node_lock_try(&reader->lock, reader->self);
    if (reads && !reader->reads) {
        reader->since_ns = now_ns;
        reader->held_ns = reader->tried_ns;
    }
    reader->reads = reads;
    reader->tried_ns = now_ns;
}

double node_reader_seconds(const struct node_reader *reader, int64_t start_ns, int64_t now_ns)
{
    if (!reader->is_shared)
        return NAN;
    int64_t since_ns = reader->since_ns > start_ns ? reader->since_ns : start_ns;
    return reader->reads && now_ns > since_ns ? clock_seconds_of_ns(now_ns - since_ns) : 0;
}

void node_reader_explain(
    const struct node_reader *reader, int64_t start_ns, char *text, unsigned long size)
{
    text[0] = '\0';
    if (!reader->reads)
        text_fit(text, size, "read by the tracker of another rank, one per machine (%s)",
            reader->lock.holder[0] ? reader->lock.holder : "which one is not known");
    else if (reader->is_shared && reader->since_ns - start_ns > START_NS)
        text_fit(text, size,
            "without the first %.1f s: the tracker of another rank read it, and none did for up to "
            "the last %.1f s of these",
            clock_seconds_of_ns(reader->since_ns - start_ns),
            clock_seconds_of_ns(reader->since_ns - reader->held_ns));
}

void node_reader_finish(struct node_reader *reader)
{
    if (reader->is_shared)
        node_lock_release(&reader->lock);
}
