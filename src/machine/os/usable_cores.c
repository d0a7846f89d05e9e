#include <gputracker/cores.h>

#include "machine/os/cgroup.h"
#include "machine/os/cpu_clock.h"
#include "machine/os/cpu_count.h"
#include "machine/os/launcher.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char *variable(void *user, const char *name)
{
    (void)user;
    return getenv(name);
}

/* Returns the cores that the control group allows; NaN: it has no limit. */
static double limit_of_cgroup(void)
{
    struct cgroup cgroup;
    struct cgroup_limits limits;
    if (cgroup_find("/proc", "/sys", getpid(), &cgroup, NULL) != GPUT_OK)
        return NAN;
    cgroup_limits_read(&cgroup, &limits);
    cgroup_finish(&cgroup);
    return fmin(limits.cpu_cores, limits.cpuset_cores);
}

unsigned gput_usable_cores(void)
{
    struct slurm_allocation slurm;
    uint32_t allowed = 1;
    slurm_parse(variable, NULL, &slurm);
    cpu_count_allowed("/proc", cpu_clock_usable("/proc"), getpid(), &allowed, NULL);
    double cores = fmin(fmin(allowed, limit_of_cgroup()), slurm.cores);
    return cores > 1 ? (unsigned)ceil(cores) : 1;
}
