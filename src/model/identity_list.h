/*
 * The identity of a session: what ran, where, when, and as which part of which job. Each field is
 * one row. The struct, the columns of results, and thereby reports, files and metrics are made from
 * these rows, which are in the order of reports. TEXT(member, size, path, meaning) is a text of at
 * most size - 1 bytes ("": not known), NUMBER(member, path, meaning) a whole number (NaN: not
 * known). `path` is the section and key in reports; the key alone names its column in tracking
 * files and its label in metrics.
 */
#pragma once

/* clang-format off */
#define IDENTITY(TEXT, NUMBER) \
    TEXT(host, 65, "identity.host", "name of the machine") \
    TEXT(boot_id, 37, "identity.boot_id", "the kernel's id of the machine since it was started: the same on one machine only") \
    TEXT(clock, 16, "identity.clock", "synchronized, or unsynchronized: what the kernel knows of its clock, from NTP or PTP") \
    TEXT(user, 65, "identity.user", "whose process main is") \
    NUMBER(pid, "identity.pid", "number of the main process") \
    TEXT(command, 1024, "identity.command", "name of the command, with its arguments where command lines are asked for") \
    NUMBER(exit_status, "identity.exit_status", "exit status of the command") \
    NUMBER(signal, "identity.signal", "number of the signal that ended the command") \
    TEXT(start, 32, "identity.start", "when tracking began, UTC") \
    TEXT(end, 32, "identity.end", "when it ended, UTC") \
    TEXT(session_id, 48, "identity.session_id", "of this session alone") \
    TEXT(within, 256, "identity.within", "ids of the sessions that have these processes, too, from the outermost: ID/ID") \
    TEXT(version, 32, "identity.version", "of gpu-tracker") \
    TEXT(container, 80, "identity.container", "id or name of the container that main runs in") \
    TEXT(pod, 80, "identity.pod", "name or id of the Kubernetes pod that main runs in") \
    TEXT(cgroup, 512, "identity.cgroup", "control group of main") \
    TEXT(cpus, 256, "identity.cpus", "that main may run on when tracking begins: 0-3,8; not known where the list is longer than 255 bytes") \
    TEXT(launcher, 16, "job.launcher", "what started this part of a job: Open MPI, Slurm and others") \
    TEXT(job_id, 96, "job.job_id", "the scheduler's, with the element of an array") \
    TEXT(task, 40, "job.task", "which element of an array, which of GNU parallel's jobs, or both: 3_7") \
    TEXT(step, 32, "job.step", "of the job; of a task of GNU parallel without one, the pid of that") \
    TEXT(run, 64, "job.run", "distinguishes runs of the launcher in one job: its own id, the address of MPICH's mpiexec, the pid of GNU parallel") \
    NUMBER(rank, "job.rank", "of main, or of its descendants if there is only one on this machine") \
    TEXT(ranks, 128, "job.ranks", "all ranks that are tracked: 0-3,8") \
    TEXT(ranks_of, 12, "job.ranks_of", "whose environment has them: main, or descendants; short-lived ones may not be seen") \
    NUMBER(local_rank, "job.local_rank", "among the ranks of this machine") \
    NUMBER(local_size, "job.local_size", "ranks on this machine") \
    NUMBER(world_size, "job.world_size", "ranks of the job") \
    TEXT(node, 65, "job.node", "the machine's name in the job") \
    NUMBER(node_rank, "job.node_rank", "number of the machine in the job") \
    NUMBER(node_count, "job.node_count", "machines of the job") \
    NUMBER(restarts, "job.restarts", "how often it was started again before") \
    TEXT(job_name, 64, "job.job_name", "the scheduler's name of the job: as a rule that of its batch script") \
    NUMBER(time_limit_seconds, "job.time_limit_seconds", "wall time that the scheduler allows the job") \
    TEXT(tracking_file, 256, "files.tracking_file", "name under which its samples were written") \
    TEXT(first_sample, 32, "files.first_sample", "time of the first sample in it, UTC: it tells that file from others, also where it was renamed or copied") \
    TEXT(energy_folder, 256, "files.energy_folder", "name under which its recording of power was written")
/* clang-format on */
