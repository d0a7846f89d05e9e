#include "machine/os/launcher.h"

#include "testing.h"
#include "variables.h"

#include <math.h>

#define PARSE(allocation, ...) slurm_parse(VARIABLES(__VA_ARGS__), allocation)

TEST(a_batch_script_has_all_of_its_node)
{
    struct slurm_allocation allocation;
    PARSE(&allocation, "SLURM_JOB_ID=1", "SLURM_CPUS_ON_NODE=8", "SLURM_CPUS_PER_TASK=2",
        "SLURM_MEM_PER_NODE=2048");
    assert_true(allocation.cores == 8);
    assert_true(allocation.ram_bytes == 2147483648.0);
}

TEST(a_task_has_its_cores)
{
    struct slurm_allocation allocation;
    PARSE(&allocation, "SLURM_STEP_ID=0", "SLURM_CPUS_ON_NODE=8", "SLURM_CPUS_PER_TASK=2",
        "SLURM_MEM_PER_CPU=100");
    assert_true(allocation.cores == 2);
    assert_true(allocation.ram_bytes == 8 * 104857600.0);
    PARSE(&allocation, "SLURM_STEP_ID=0", "SLURM_CPUS_ON_NODE=8");
    assert_true(allocation.cores == 8);
}

TEST(what_is_not_said_is_not_known)
{
    struct slurm_allocation allocation;
    PARSE(&allocation, "HOME=/root");
    assert_true(isnan(allocation.cores) && isnan(allocation.ram_bytes));
    /* 0 is all that the machine has */
    PARSE(&allocation, "SLURM_CPUS_ON_NODE=x", "SLURM_MEM_PER_NODE=0");
    assert_true(isnan(allocation.cores) && isnan(allocation.ram_bytes));
}

RUN_TESTS(NULL, NULL)
