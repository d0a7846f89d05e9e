#include "analysis/size/size.h"
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/human.h"
#include "model/request.h"

#include <math.h>

/* What is asked for, rounded up to figures that people would write. NaN: it is not asked for. */
struct request {
    double ram_bytes;
    double seconds;
    double cores;
    double gpus;
};

/* Rounds the bounds to what is asked for. */
static struct request request_of(const struct gput_size *size)
{
    const struct size_bound *bounds = size->bounds;
    return (struct request){
        .ram_bytes = request_round_ram_bytes(bounds[SIZE_RAM].value),
        .seconds = request_round_seconds(bounds[SIZE_WALL].value),
        /* 4.03 cores are four: clocks are read one after the other. */
        .cores = fmax(ceil(bounds[SIZE_CORES].value - 0.1), bounds[SIZE_CORES].value > 0 ? 1 : NAN),
        .gpus = bounds[SIZE_GPUS].value,
    };
}

static double mebibytes(double bytes)
{
    return bytes / (1 << 20);
}

/* Writes options of sbatch. */
static void write_slurm(const struct gput_size *size, struct str *text)
{
    struct request request = request_of(size);
    request_add_slurm(request.ram_bytes, request.cores, request.seconds, text);
    if (request.gpus > 0)
        str_printf(text, "%s--gres=gpu:%.0f", text->length ? " " : "", request.gpus);
    str_append_char(text, '\n');
}

/* Writes options of qsub. */
static void write_pbs(const struct gput_size *size, struct str *text)
{
    struct request request = request_of(size);
    str_append(text, "-l select=1");
    if (request.cores > 0)
        str_printf(text, ":ncpus=%.0f", request.cores);
    if (request.ram_bytes > 0)
        str_printf(text, ":mem=%.0fmb", mebibytes(request.ram_bytes));
    if (request.gpus > 0)
        str_printf(text, ":ngpus=%.0f", request.gpus);
    if (request.seconds > 0)
        str_printf(text, " -l walltime=%02.0f:%02.0f:00", floor(request.seconds / 3600),
            fmod(request.seconds, 3600) / 60);
    str_append_char(text, '\n');
}

/* Time is the pod's, or the job's: it is not part of a container's resources. */
static void write_kubernetes(const struct gput_size *size, struct str *text)
{
    struct request request = request_of(size);
    str_append(text, "resources:\n  requests:\n");
    if (request.ram_bytes > 0)
        str_printf(text, "    memory: %.0fMi\n", mebibytes(request.ram_bytes));
    if (request.cores > 0)
        str_printf(text, "    cpu: \"%.0f\"\n", request.cores);
    str_append(text, "  limits:\n");
    if (request.ram_bytes > 0)
        str_printf(text, "    memory: %.0fMi\n", mebibytes(request.ram_bytes));
    if (request.gpus > 0)
        str_printf(text, "    nvidia.com/gpu: \"%.0f\"\n", request.gpus);
}

/* Adds a bound with what it rests on. */
static void add_bound(
    struct doc *root, const char *key, const struct gput_size *size, enum size_quantity quantity)
{
    const struct size_bound *bound = &size->bounds[quantity];
    static const char *const bases[] = {
        [SIZE_BASIS_GUESS] = "guess",
        [SIZE_BASIS_LOGNORMAL] = "lognormal",
        [SIZE_BASIS_ORDER] = "order",
    };
    if (bound->basis == SIZE_BASIS_NONE) {
        doc_add_null(root, key);
        return;
    }
    struct doc *object = doc_add_object(root, key);
    doc_add_double(object, "value", bound->value);
    doc_add_string(object, "basis", bases[bound->basis]);
    doc_add_double(object, "highest_seen", bound->seen);
    doc_add_int(object, "runs", (int64_t)bound->n_values);
    doc_add_int(object, "runs_ended_early", (int64_t)bound->n_censored);
    doc_add_int(object, "runs_needed_without_assumption", (int64_t)bound->n_needed);
    doc_add_bool(object, "grows_with_input", bound->grows && size->has_inputs);
    doc_add_double(object, "for_input_bytes", size->has_inputs ? bound->covariate : NAN);
    doc_add_bool(object, "grows_with_ranks", bound->grows && !size->has_inputs);
    doc_add_double(object, "for_ranks", size->has_inputs ? NAN : bound->covariate);
}

/* Writes the request, its bounds and their evidence. */
static void write_json(const struct gput_size *size, struct str *text)
{
    struct doc *root = doc_create_object();
    struct request request = request_of(size);
    doc_add_string(root, "name", size->name);
    doc_add_double(root, "share", size->share);
    doc_add_int(root, "runs", (int64_t)size->n_runs);
    doc_add_int(root, "failed_runs_left_out", (int64_t)size->n_failed);
    doc_add_double(root, "first_run_seconds", size->first_seconds);
    doc_add_double(root, "last_run_seconds", size->last_seconds);
    struct doc *asked = doc_add_object(root, "request");
    doc_add_double(asked, "ram_bytes", request.ram_bytes);
    doc_add_double(asked, "seconds", request.seconds);
    doc_add_double(asked, "cores", request.cores);
    doc_add_double(asked, "gpus", request.gpus);
    add_bound(root, "ram_bytes", size, SIZE_RAM);
    add_bound(root, "wall_seconds", size, SIZE_WALL);
    add_bound(root, "cores", size, SIZE_CORES);
    add_bound(root, "gpus", size, SIZE_GPUS);
    add_bound(root, "gpu_ram_bytes", size, SIZE_GPU_RAM);
    doc_finish_json(root, text);
    str_append_char(text, '\n');
}

/* Writes the request for people. */
static void write_text(const struct gput_size *size, struct str *text)
{
    struct request request = request_of(size);
    char figure[HUMAN_SIZE];
    if (request.ram_bytes > 0)
        str_printf(text, "RAM     %s\n", human_bytes(request.ram_bytes, figure));
    if (request.seconds > 0)
        str_printf(text, "Time    %s\n", human_seconds(request.seconds, figure));
    if (request.cores > 0)
        str_printf(text, "Cores   %.0f\n", request.cores);
    if (request.gpus > 0)
        str_printf(text, "GPUs    %.0f\n", request.gpus);
    str_printf(text, "\n%s", gput_size_evidence(size));
}

int gput_size_render(const struct gput_size *size, enum gput_size_format format, char **bytes,
    size_t *length, struct gput_error *error)
{
    static void (*const writers[])(const struct gput_size *, struct str *) = {
        [GPUT_SIZE_FORMAT_SLURM] = write_slurm,
        [GPUT_SIZE_FORMAT_PBS] = write_pbs,
        [GPUT_SIZE_FORMAT_KUBERNETES] = write_kubernetes,
        [GPUT_SIZE_FORMAT_JSON] = write_json,
        [GPUT_SIZE_FORMAT_TEXT] = write_text,
    };
    struct str text = {0};
    *bytes = NULL;
    if ((size_t)format >= sizeof writers / sizeof *writers)
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "A request has no format %d.", (int)format);
    writers[format](size, &text);
    return str_steal_bytes(&text, bytes, length, error);
}
