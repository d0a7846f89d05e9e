#include "views/output/results_pickle.h"

#include "views/output/pickle_writer.h"

#define MODULE "gpu_tracker.tracker"

/* The sections of the report that have a class, and the class of the objects in them. */
static const struct section {
    const char *key;
    const char *class_name;
    const char *part_class_name;
} sections[] = {
    {"max_ram", "MaxRAM", "RSSValues"},
    {"max_gpu_ram", "MaxGPURAM", NULL},
    {"cpu_utilization", "CPUUtilization", "ProcessingUnitPercentages"},
    {"gpu_utilization", "GPUUtilization", "ProcessingUnitPercentages"},
    {"compute_time", "ComputeTime", NULL},
};

/* An object of a data class, whose fields are named as the members are. They are numbers: what is
 * missing is 0.0 there, and None in the details next to them. */
static void write_object(
    const struct doc *values, const char *class_name, const char *part_class_name, struct str *text)
{
    pickle_object_begin(text, MODULE, class_name);
    for (const struct doc *value = values ? values->first : NULL; value; value = value->next) {
        pickle_text(text, value->key);
        if (value->kind == DOC_OBJECT)
            write_object(value, part_class_name, NULL, text);
        else if (value->kind == DOC_NULL)
            pickle_float(text, 0.0);
        else
            pickle_doc(text, value);
    }
    pickle_object_end(text);
}

static void write_resource_usage(const struct doc *report, struct str *text)
{
    pickle_object_begin(text, MODULE, "ResourceUsage");
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        const struct section *section = &sections[i];
        pickle_text(text, section->key);
        write_object(
            doc_get(report, section->key), section->class_name, section->part_class_name, text);
    }
    pickle_object_end(text);
}

void results_write_pickle(const struct doc *report, const char *report_text, struct str *text)
{
    pickle_begin(text);
    pickle_object_begin(text, MODULE, "Tracker");
    pickle_text(text, "resource_usage");
    write_resource_usage(report, text);
    pickle_text(
        text, "n_join_attempts"); /* the arguments that a Tracker shows, as they are usual */
    pickle_int(text, 5);
    pickle_text(text, "join_timeout");
    pickle_float(text, 10.0);
    pickle_text(text, "state");
    pickle_call_begin(text, MODULE, "Tracker.State");
    pickle_int(text, 2); /* STOPPED */
    pickle_call_end(text);
    pickle_text(text, "details");
    pickle_doc(text, report);
    pickle_text(text, "text");
    pickle_text(text, report_text);
    pickle_object_end(text);
    pickle_end(text);
}
