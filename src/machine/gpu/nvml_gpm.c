#include "machine/gpu/nvml_gpm.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>

/* NVIDIA asks for 100 ms at least between two samples. */
#define MIN_INTERVAL_NS (NS_PER_SECOND / 10)
/* Readings before the first sample. */
#define N_READINGS_BEFORE 2
/* Percentages are of 100 and may be rounded; more than this is no percentage. */
#define MAX_PERCENT 101.0

#define MIB_TO_BYTES 1048576.0
#define PERCENT 0.0

/* NVML's number of a metric, and the factor from its unit to the figure's. */
static const struct {
    unsigned metric;
    enum card_figure figure;
    double factor; /* PERCENT: it is one */
} metrics[] = {
    {2, CARD_SM_ACTIVE, PERCENT},
    {3, CARD_SM_OCCUPANCY, PERCENT},
    {5, CARD_TENSOR_ACTIVE, PERCENT},
    {11, CARD_FP64_ACTIVE, PERCENT},
    {12, CARD_FP32_ACTIVE, PERCENT},
    {13, CARD_FP16_ACTIVE, PERCENT},
    {10, CARD_DRAM_BANDWIDTH, PERCENT},
    {20, CARD_PCIE_TRANSMIT_RATE, MIB_TO_BYTES},
    {21, CARD_PCIE_RECEIVE_RATE, MIB_TO_BYTES},
    {61, CARD_NVLINK_TRANSMIT_RATE, MIB_TO_BYTES},
    {60, CARD_NVLINK_RECEIVE_RATE, MIB_TO_BYTES},
};
#define N_METRICS (sizeof metrics / sizeof *metrics)

static const char unsampled_reason[] = "the NVIDIA driver has not given two samples of it yet";
static const char unsupported_reason[] = "NVIDIA GPUs count it from Hopper on, and not all of them";

struct nvml_gpm {
    const struct nvml_library *library;
    nvml_device card; /* of a MIG instance; NULL: the GPU is a whole one */
    unsigned instance;
    int instance_code; /* of asking for its number */
    unsigned n_readings;
    bool is_supported; /* the driver said so */
    bool is_refused;   /* for good */
    nvml_gpm_sample before, now;
    int64_t sampled_ns; /* when `before` was taken; 0: it was not */
    double values[N_METRICS];
    const char *missing[N_METRICS]; /* static text */
    struct nvml_gpm_request request;
};

/* Makes all figures unknown for one reason. */
static void set_missing(struct nvml_gpm *gpm, const char *reason)
{
    for (size_t i = 0; i < N_METRICS; i++) {
        gpm->values[i] = NAN;
        gpm->missing[i] = reason;
    }
}

struct nvml_gpm *nvml_gpm_create(const struct nvml_library *library)
{
    struct nvml_gpm *gpm = calloc(1, sizeof *gpm);
    if (!gpm)
        return NULL;
    gpm->library = library;
    set_missing(gpm, unsampled_reason);
    return gpm;
}

void nvml_gpm_destroy(struct nvml_gpm *gpm)
{
    if (!gpm)
        return;
    if (gpm->before)
        gpm->library->gpm_free(gpm->before);
    if (gpm->now)
        gpm->library->gpm_free(gpm->now);
    free(gpm);
}

void nvml_gpm_set_instance(struct nvml_gpm *gpm, nvml_device card, nvml_device instance)
{
    gpm->card = card;
    gpm->instance_code = gpm->library->mig_instance
                             ? gpm->library->mig_instance(instance, &gpm->instance)
                             : NVML_FUNCTION_NOT_FOUND;
}

/* Asks once whether the chip counts, and allocates the two samples. */
static int prepare(struct nvml_gpm *gpm, nvml_device handle, const char **reason)
{
    const struct nvml_library *library = gpm->library;
    struct nvml_gpm_support support = {.version = NVML_GPM_VERSION};
    if (!library->gpm_support || !library->gpm_alloc || !library->gpm_free ||
        !library->gpm_metrics ||
        !(gpm->card ? library->gpm_instance_sample != NULL : library->gpm_sample != NULL))
        return NVML_FUNCTION_NOT_FOUND;
    int code = gpm->is_supported ? NVML_SUCCESS
                                 : library->gpm_support(gpm->card ? gpm->card : handle, &support);
    if (code == NVML_SUCCESS && !gpm->is_supported && !support.is_supported)
        code = NVML_NOT_SUPPORTED;
    if (code == NVML_NOT_SUPPORTED)
        *reason = unsupported_reason;
    gpm->is_supported = code == NVML_SUCCESS;
    if (code == NVML_SUCCESS && !gpm->before)
        code = library->gpm_alloc(&gpm->before);
    if (code == NVML_SUCCESS && !gpm->now)
        code = library->gpm_alloc(&gpm->now);
    return code;
}

/* Computes the figures of the time between the two samples. */
static int compute(struct nvml_gpm *gpm)
{
    struct nvml_gpm_request *request = &gpm->request;
    request->version = NVML_GPM_VERSION;
    request->n_metrics = N_METRICS;
    request->before = gpm->before;
    request->now = gpm->now;
    for (size_t i = 0; i < N_METRICS; i++)
        request->metrics[i] =
            (struct nvml_gpm_metric){.metric = metrics[i].metric, .code = NVML_NO_DATA};
    int code = gpm->library->gpm_metrics(request);
    for (size_t i = 0; i < N_METRICS && code == NVML_SUCCESS; i++) {
        const struct nvml_gpm_metric *metric = &request->metrics[i];
        bool is_percent = metrics[i].factor == PERCENT;
        bool is_valid = isfinite(metric->value) && metric->value >= 0 &&
                        (!is_percent || metric->value <= MAX_PERCENT);
        int metric_code = metric->code == NVML_SUCCESS && !is_valid ? NVML_NO_DATA : metric->code;
        gpm->missing[i] = metric_code == NVML_SUCCESS ? NULL : nvml_code_text(metric_code);
        gpm->values[i] = metric_code != NVML_SUCCESS ? NAN
                         : is_percent                ? fmin(metric->value, 100)
                                                     : metric->value * metrics[i].factor;
    }
    return code;
}

/* Takes a sample, and computes the figures where there was one before. */
static void sample(struct nvml_gpm *gpm, nvml_device handle)
{
    const char *reason = NULL;
    int64_t now_ns = clock_monotonic_ns();
    if (gpm->is_refused || (gpm->sampled_ns && now_ns - gpm->sampled_ns < MIN_INTERVAL_NS))
        return;
    int code = gpm->card ? gpm->instance_code : NVML_SUCCESS;
    if (code == NVML_SUCCESS)
        code = prepare(gpm, handle, &reason);
    if (code == NVML_SUCCESS && gpm->card)
        code = gpm->library->gpm_instance_sample(gpm->card, gpm->instance, gpm->now);
    else if (code == NVML_SUCCESS)
        code = gpm->library->gpm_sample(handle, gpm->now);
    bool is_sampled = code == NVML_SUCCESS;
    if (is_sampled && gpm->sampled_ns)
        code = compute(gpm);
    if (is_sampled) {
        nvml_gpm_sample older = gpm->before;
        gpm->before = gpm->now;
        gpm->now = older;
    }
    gpm->sampled_ns = is_sampled ? clock_monotonic_ns() : 0;
    gpm->is_refused = code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND ||
                      code == NVML_NO_PERMISSION || code == NVML_ARGUMENT_VERSION_MISMATCH;
    if (code != NVML_SUCCESS)
        set_missing(gpm, reason ? reason : nvml_code_text(code));
}

void nvml_gpm_read(struct nvml_gpm *gpm, nvml_device handle, struct card_reading *reading)
{
    if (gpm->n_readings < N_READINGS_BEFORE)
        gpm->n_readings++;
    else
        sample(gpm, handle);
    for (size_t i = 0; i < N_METRICS; i++) {
        reading->values[metrics[i].figure] = gpm->values[i];
        reading->missing[metrics[i].figure] = gpm->missing[i];
    }
}
