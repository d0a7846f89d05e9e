#include "machine/gpu/nvml_card.h"

#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pauses for figures that change quickly, and for the others. */
#define FAST_NS (NS_PER_SECOND / 10 - NS_PER_SECOND / 100)
#define SLOW_NS (NS_PER_SECOND - NS_PER_SECOND / 100)
/* Never again, unless everything is read. */
#define ONCE_NS INT64_MAX

/* A counter cannot count more time than passed, but may be renewed at longer intervals. */
#define MAX_LEAP_SECONDS 2.0
/* One that stands still for longer while each reading gives its reason is not believed. */
#define MAX_STILL_NS (3 * NS_PER_SECOND)

/* Thermal (driver), thermal (chip), power brake: three fields in a row. Drivers that know the later
 * ones have something else at the earlier ones. */
#define OLDER_THERMAL_FIELD 251u
#define NEWER_THERMAL_FIELD 269u
#define LAST_DRIVER_WITH_OLDER 580

#define ALL_LINKS (~0u)

struct call {
    int64_t interval_ns;
    int (*read)(struct nvml_card *card, nvml_device handle, const struct call *call);
    enum card_figure figure;
    size_t function; /* offset in struct nvml_library */
    enum { PLAIN, OF_TYPE, ENGINE } kind;
    unsigned type; /* the second argument of one OF_TYPE */
    unsigned max;  /* more is no figure; 0: anything is */
    double factor; /* 0: as 1 */
    const struct field *fields;
    size_t n_fields;
};

static void set(struct nvml_card *card, enum card_figure figure, int code, double value)
{
    card->reading.values[figure] = code == NVML_SUCCESS ? value : NAN;
    card->reading.missing[figure] = code == NVML_SUCCESS ? NULL : nvml_code_text(code);
}

/* ---- calls of one figure ---- */

/* Makes a call that gives one number, by its kind. */
static int read_number(struct nvml_card *card, nvml_device handle, const struct call *call)
{
    const void *member = (const char *)card->library + call->function;
    union {
        nvml_get *plain;
        nvml_get_typed *typed;
        nvml_get_engine *engine;
    } get;
    unsigned value = 0, period_us;
    memcpy(&get, member, sizeof get);
    int code = !get.plain              ? NVML_FUNCTION_NOT_FOUND
               : call->kind == PLAIN   ? get.plain(handle, &value)
               : call->kind == OF_TYPE ? get.typed(handle, call->type, &value)
                                       : get.engine(handle, &value, &period_us);
    if (code == NVML_SUCCESS && call->max && value > call->max)
        code = NVML_NO_DATA;
    set(card, call->figure, code, value * (call->factor != 0 ? call->factor : 1));
    return code;
}

static int read_bar1(struct nvml_card *card, nvml_device handle, const struct call *call)
{
    struct nvml_memory memory = {0};
    int code = card->library->bar1 ? card->library->bar1(handle, &memory) : NVML_FUNCTION_NOT_FOUND;
    set(card, call->figure, code, (double)memory.used);
    return code;
}

/* Reads why the card is slowed, as a mask of our own reasons. */
static int read_reasons(struct nvml_card *card, nvml_device handle, const struct call *call)
{
    static const struct {
        unsigned long long bit;
        enum card_reason reason;
    } bits[] = {
        {0x1, CARD_REASON_IDLE},
        {0x2, CARD_REASON_CLOCK_SETTING},
        {0x4, CARD_REASON_POWER_CAP},
        {0x8, CARD_REASON_HARDWARE},
        {0x10, CARD_REASON_SYNC_BOOST},
        {0x20, CARD_REASON_THERMAL},
        {0x40, CARD_REASON_HARDWARE_THERMAL},
        {0x80, CARD_REASON_POWER_BRAKE},
        {0x100, CARD_REASON_DISPLAY},
    };
    unsigned long long given = 0, known = 0;
    unsigned reasons = 0;
    int code = card->library->clock_reasons ? card->library->clock_reasons(handle, &given)
                                            : NVML_FUNCTION_NOT_FOUND;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++) {
        reasons |= given & bits[i].bit ? 1u << bits[i].reason : 0;
        known |= bits[i].bit;
    }
    /* "The hardware" stands for heat or the power brake, too, where the driver says which. */
    if (given & (0x40 | 0x80))
        reasons &= ~(1u << CARD_REASON_HARDWARE);
    if (given & ~known)
        reasons |= 1u << CARD_REASON_OTHER;
    set(card, call->figure, code, reasons);
    return code;
}

/* ---- fields ---- */

struct field {
    unsigned field;
    enum card_figure figure;
    double factor;
    unsigned scope;
};

#define NS_TO_S 1e-9
#define KIB_TO_BYTES 1024.0

/* The last three are those of first_thermal_field. */
static const struct field slowed_fields[] = {
    {74, CARD_POWER_CAP_SECONDS, NS_TO_S, 0},
    {76, CARD_SYNC_BOOST_SECONDS, NS_TO_S, 0},
    {0, CARD_THERMAL_SECONDS, NS_TO_S, 0},
    {1, CARD_HARDWARE_THERMAL_SECONDS, NS_TO_S, 0},
    {2, CARD_POWER_BRAKE_SECONDS, NS_TO_S, 0},
};
#define FIRST_THERMAL 2

static const struct field link_fields[] = {
    {82, CARD_MEMORY_TEMPERATURE, 1, 0},
    {197, CARD_PCIE_TRANSMITTED, 1, 0},
    {198, CARD_PCIE_RECEIVED, 1, 0},
    {94, CARD_PCIE_REPLAYS, 1, 0},
    {138, CARD_NVLINK_TRANSMITTED, KIB_TO_BYTES, ALL_LINKS},
    {139, CARD_NVLINK_RECEIVED, KIB_TO_BYTES, ALL_LINKS},
};

/* Fields of one figure are added up. */
static const struct field health_fields[] = {
    {3, CARD_ECC_CORRECTED, 1, 0},
    {4, CARD_ECC_UNCORRECTED, 1, 0},
    {29, CARD_RETIRED_PAGES, 1, 0},
    {30, CARD_RETIRED_PAGES, 1, 0},
    {142, CARD_REMAPPED_ROWS, 1, 0},
    {143, CARD_REMAPPED_ROWS, 1, 0},
    {144, CARD_REMAPPING_PENDING, 1, 0},
    {145, CARD_REMAPPING_FAILED, 1, 0},
    {230, CARD_RECOVERY_ACTION, 1, 0},
    {38, CARD_NVLINK_ERRORS, 1, 0},
    {45, CARD_NVLINK_ERRORS, 1, 0},
    {52, CARD_NVLINK_ERRORS, 1, 0},
    {59, CARD_NVLINK_ERRORS, 1, 0},
};
#define MAX_FIELDS 16

/* Asks for several fields at once. Returns the code of the call itself. */
static int ask_fields(const struct nvml_card *card, nvml_device handle, const struct field *fields,
    size_t count, struct nvml_field_value *values)
{
    if (!card->library->field_values)
        return NVML_FUNCTION_NOT_FOUND;
    for (size_t i = 0; i < count; i++) {
        unsigned field = fields[i].field;
        if (fields == slowed_fields && i >= FIRST_THERMAL)
            field += card->first_thermal_field;
        values[i] = (struct nvml_field_value){.field = field, .scope = fields[i].scope};
    }
    return card->library->field_values(handle, (int)count, values);
}

/*
 * A figure is the sum of those of its fields that the card has. These are the ones that answer when
 * all are known for the first time: if one fails later, the figure is missing, because a smaller
 * sum would look like a counter that began anew.
 */
static int read_fields(struct nvml_card *card, nvml_device handle, const struct call *call)
{
    struct nvml_field_value values[MAX_FIELDS];
    bool is_supported = false;
    int code = ask_fields(card, handle, call->fields, call->n_fields, values);
    for (size_t i = 0; i < call->n_fields;) {
        enum card_figure figure = call->fields[i].figure;
        uint16_t *summed = &card->summed[figure], answered = 0;
        double sum = 0;
        int failure = code;
        for (; i < call->n_fields && call->fields[i].figure == figure; i++) {
            uint16_t bit = (uint16_t)(1u << i);
            bool is_summed = *summed & bit;
            if (code != NVML_SUCCESS || (*summed && !is_summed) ||
                (values[i].code == NVML_NOT_SUPPORTED && !is_summed))
                continue;
            double number = nvml_field_number(&values[i]);
            is_supported |= values[i].code != NVML_NOT_SUPPORTED;
            if (values[i].code == NVML_SUCCESS && number >= 0)
                answered |= bit;
            else
                failure = values[i].code == NVML_SUCCESS ? NVML_NO_DATA : values[i].code;
            sum += number * call->fields[i].factor;
        }
        if (failure == NVML_SUCCESS && !answered)
            failure = NVML_NOT_SUPPORTED;
        if (failure == NVML_SUCCESS)
            *summed = answered;
        set(card, figure, failure, sum);
    }
    return code == NVML_SUCCESS && !is_supported ? NVML_NOT_SUPPORTED : code;
}

/* ---- slowed time ---- */

static bool answers(const struct nvml_field_value *values)
{
    for (int i = 0; i < 3; i++)
        if (values[i].code == NVML_SUCCESS)
            return true;
    return false;
}

/* Which three fields count thermal slowdowns: by driver, where both answer. */
static void choose_thermal_fields(struct nvml_card *card, nvml_device handle)
{
    unsigned preferred = card->first_thermal_field;
    unsigned other = preferred == OLDER_THERMAL_FIELD ? NEWER_THERMAL_FIELD : OLDER_THERMAL_FIELD;
    const struct field *thermal = &slowed_fields[FIRST_THERMAL];
    struct nvml_field_value values[6];
    for (unsigned i = 0; i < 6; i++)
        values[i] =
            (struct nvml_field_value){.field = (i < 3 ? preferred : other) + thermal[i % 3].field};
    card->other_thermal_field = 0;
    if (!card->library->field_values ||
        card->library->field_values(handle, 6, values) != NVML_SUCCESS)
        return;
    if (!answers(values) && answers(values + 3))
        card->first_thermal_field = other;
    else if (answers(values + 3))
        card->other_thermal_field = other;
}

/*
 * Whether the counter of a reason agrees with the reasons that the driver gives: it counts no more
 * time than passed, and does not stand still while each reading gives its reason. Drivers may renew
 * it at longer intervals, which is allowed for.
 */
static bool agrees(struct nvml_slowed *slowed, double seconds, bool is_active, int64_t now_ns)
{
    double counted = seconds - slowed->before;
    bool has_leapt = counted > clock_seconds_of_ns(now_ns - slowed->before_ns) + MAX_LEAP_SECONDS;
    if (counted != 0 || !is_active) /* so of the first reading, too */
        slowed->still_since_ns = now_ns;
    slowed->before = seconds;
    slowed->before_ns = now_ns;
    return !has_leapt && now_ns - slowed->still_since_ns < MAX_STILL_NS;
}

static const char refuted_reason[] =
    "the driver's counter contradicts the reasons for slowdowns that it gives";

/* Reads the other three fields of thermal slowdowns from now on. Their counters begin elsewhere. */
static void change_thermal_fields(struct nvml_card *card)
{
    card->first_thermal_field = card->other_thermal_field;
    card->other_thermal_field = 0;
    for (size_t i = FIRST_THERMAL; i < sizeof slowed_fields / sizeof *slowed_fields; i++) {
        set(card, slowed_fields[i].figure, NVML_NO_DATA, NAN);
        card->summed[slowed_fields[i].figure] = 0;
    }
    for (int i = 0; i < CARD_REASON_COUNT; i++)
        if (card_reason_is_thermal((enum card_reason)i))
            card->slowed[i].before = NAN;
    card->reading.n_counter_changes++;
}

/* Withdraws counters that contradict the reasons; other fields are tried first. */
static void check_slowed(struct nvml_card *card)
{
    double reasons = card->reading.values[CARD_SLOWDOWN_REASONS];
    int64_t now_ns = clock_monotonic_ns();
    for (int i = 0; i < CARD_REASON_COUNT; i++) {
        enum card_figure counter = card_reason_counter((enum card_reason)i);
        struct nvml_slowed *slowed = &card->slowed[i];
        if (counter == CARD_FIGURE_COUNT)
            continue;
        double seconds = card->reading.values[counter];
        bool is_active = !isnan(reasons) && ((unsigned)reasons >> i & 1);
        if (!slowed->is_refuted && !isnan(seconds) && !agrees(slowed, seconds, is_active, now_ns)) {
            if (card_reason_is_thermal((enum card_reason)i) && card->other_thermal_field)
                change_thermal_fields(card);
            else
                slowed->is_refuted = true;
        }
        if (slowed->is_refuted) {
            card->reading.values[counter] = NAN;
            card->reading.missing[counter] = refuted_reason;
        }
    }
}

static int read_slowed(struct nvml_card *card, nvml_device handle, const struct call *call)
{
    int code = read_fields(card, handle, call);
    if (code == NVML_SUCCESS)
        check_slowed(card);
    return code;
}

/* ---- the table of calls ---- */

#define AT(member) .function = offsetof(struct nvml_library, member)
#define FIELDS(list) .fields = (list), .n_fields = sizeof(list) / sizeof *(list)

/* Counters lose nothing when they are read seldom: at the start and at the end all are read. */
static const struct call calls[] = {
    {FAST_NS, read_number, CARD_GRAPHICS_CLOCK, AT(clock), OF_TYPE, .type = 0},
    {FAST_NS, read_reasons, CARD_SLOWDOWN_REASONS, AT(clock_reasons)},
    {SLOW_NS, read_number, CARD_TEMPERATURE, AT(temperature), OF_TYPE, .type = 0},
    {SLOW_NS, read_slowed, CARD_POWER_CAP_SECONDS, FIELDS(slowed_fields)},
    {SLOW_NS, read_number, CARD_MEMORY_CLOCK, AT(clock), OF_TYPE, .type = 2},
    {SLOW_NS, read_number, CARD_PERFORMANCE_STATE, AT(performance_state), .max = 15},
    {SLOW_NS, read_number, CARD_POWER_LIMIT, AT(power_limit), .factor = 1e-3},
    {SLOW_NS, read_number, CARD_FAN, AT(fan)},
    {SLOW_NS, read_number, CARD_ENCODER, AT(encoder), ENGINE, .max = 100},
    {SLOW_NS, read_number, CARD_DECODER, AT(decoder), ENGINE, .max = 100},
    {SLOW_NS, read_bar1, CARD_BAR1_USED, AT(bar1)},
    {SLOW_NS, read_number, CARD_PCIE_GENERATION, AT(pcie_generation)},
    {SLOW_NS, read_number, CARD_PCIE_WIDTH, AT(pcie_width)},
    {SLOW_NS, read_fields, CARD_MEMORY_TEMPERATURE, FIELDS(link_fields)},
    {ONCE_NS, read_fields, CARD_ECC_CORRECTED, FIELDS(health_fields)},
    {ONCE_NS, read_number, CARD_MAX_GRAPHICS_CLOCK, AT(max_clock), OF_TYPE, .type = 0},
    {ONCE_NS, read_number, CARD_MAX_MEMORY_CLOCK, AT(max_clock), OF_TYPE, .type = 2},
    {ONCE_NS, read_number, CARD_SLOWDOWN_TEMPERATURE, AT(temperature_threshold), OF_TYPE,
        .type = 1},
    {ONCE_NS, read_number, CARD_SHUTDOWN_TEMPERATURE, AT(temperature_threshold), OF_TYPE,
        .type = 0},
    {ONCE_NS, read_number, CARD_MAX_PCIE_GENERATION, AT(max_pcie_generation)},
    {ONCE_NS, read_number, CARD_MAX_PCIE_WIDTH, AT(max_pcie_width)},
    {ONCE_NS, read_number, CARD_COMPUTE_MODE, AT(compute_mode)},
};
#define N_CALLS (sizeof calls / sizeof *calls)

static_assert(N_CALLS <= NVML_CARD_CALLS, "state for each call");
static_assert(sizeof health_fields / sizeof *health_fields <= MAX_FIELDS, "space for each field");

static const char unread_reason[] = "not read yet";

void nvml_card_init(
    struct nvml_card *card, const struct nvml_library *library, const char *driver_version)
{
    long driver = strtol(driver_version, NULL, 10);
    card->library = library;
    card_reading_clear(&card->reading, unread_reason);
    card->first_thermal_field =
        driver > LAST_DRIVER_WITH_OLDER ? NEWER_THERMAL_FIELD : OLDER_THERMAL_FIELD;
    for (int i = 0; i < CARD_REASON_COUNT; i++)
        card->slowed[i].before = NAN;
}

static bool is_of_whole_gpu(int code)
{
    return code == NVML_UNINITIALIZED || code == NVML_GPU_IS_LOST || code == NVML_RESET_REQUIRED ||
           code == NVML_OPERATING_SYSTEM;
}

/* A call that concerns the whole GPU ends the reading: the others would fail likewise, and each may
 * take its time. */
int nvml_card_read(struct nvml_card *card, nvml_device handle, uint32_t n_gpus, bool whole,
    struct card_reading *reading)
{
    int failure = NVML_SUCCESS;
    for (size_t i = 0; i < N_CALLS && failure == NVML_SUCCESS; i++) {
        struct nvml_card_call *state = &card->calls[i];
        int64_t now_ns = clock_monotonic_ns();
        bool is_due = !state->read_ns || (calls[i].interval_ns != ONCE_NS &&
                                             now_ns >= state->read_ns + calls[i].interval_ns &&
                                             call_pace_is_due(&state->pace, now_ns));
        if (state->is_forgotten || (!is_due && !whole))
            continue;
        if (!state->read_ns && calls[i].read == read_slowed)
            choose_thermal_fields(card, handle);
        call_pace_begin(&state->pace, now_ns);
        int code = calls[i].read(card, handle, &calls[i]);
        call_pace_end(&state->pace, n_gpus);
        state->read_ns = now_ns;
        state->is_forgotten = code == NVML_NOT_SUPPORTED || code == NVML_FUNCTION_NOT_FOUND;
        failure = is_of_whole_gpu(code) ? code : NVML_SUCCESS;
    }
    *reading = card->reading;
    return failure;
}

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
