#include "machine/os/slurm.h"

#include "machine/os/scan.h"

#include <math.h>

#define MEBIBYTE 1048576.0

/* Reads a number; NaN: not set, no number, or 0, which stands for all of the machine. */
static double number_of(launcher_variable *variable, void *user, const char *name)
{
    uint64_t number;
    const char *text = variable(user, name);
    const char *end = text ? scan_uint64(text, &number) : NULL;
    return end && *end == '\0' && number > 0 ? (double)number : NAN;
}

void slurm_parse(launcher_variable *variable, void *user, struct slurm_allocation *allocation)
{
    const char *step = variable(user, "SLURM_STEP_ID");
    double of_node = number_of(variable, user, "SLURM_CPUS_ON_NODE");
    double of_task = number_of(variable, user, "SLURM_CPUS_PER_TASK");
    double ram = number_of(variable, user, "SLURM_MEM_PER_NODE");
    double ram_of_core = number_of(variable, user, "SLURM_MEM_PER_CPU");
    allocation->cores = step && of_task <= of_node ? of_task : of_node;
    allocation->ram_bytes = MEBIBYTE * (isnan(ram) ? ram_of_core * of_node : ram);
}
