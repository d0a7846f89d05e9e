#include "machine/os/proc_smaps_rollup.h"

#include "machine/os/procfs.h"
#include "machine/os/smaps_field.h"

#include <string.h>

static bool has(const struct smaps_fields *fields, enum smaps_key key)
{
    return fields->seen >> key & 1;
}

int proc_smaps_rollup_parse(const char *text, struct proc_smaps_rollup *rollup)
{
    const char *end = text + strlen(text);
    struct smaps_fields fields = {0};
    struct scan_line header;

    /* The first line is a range of addresses and "[rollup]". */
    if (smaps_is_header(*text) && !scan_next_line(&text, end, &header))
        return GPUT_ERROR_FORMAT;
    smaps_scan_fields(text, end, &fields);
    if (!has(&fields, SMAPS_RSS) || !has(&fields, SMAPS_PSS))
        return GPUT_ERROR_FORMAT;

    *rollup = (struct proc_smaps_rollup){
        .has_pss_parts = has(&fields, SMAPS_PSS_ANONYMOUS) && has(&fields, SMAPS_PSS_FILE) &&
                         has(&fields, SMAPS_PSS_SHMEM),
        .pss_anonymous_bytes = fields.bytes[SMAPS_PSS_ANONYMOUS],
        .pss_file_bytes = fields.bytes[SMAPS_PSS_FILE] + fields.bytes[SMAPS_PSS_SHMEM],
        .private_bytes = fields.bytes[SMAPS_PRIVATE],
        .shared_bytes = fields.bytes[SMAPS_SHARED],
        .anonymous_bytes = fields.bytes[SMAPS_ANONYMOUS],
        .private_hugetlb_bytes = fields.bytes[SMAPS_PRIVATE_HUGETLB],
        .shared_hugetlb_bytes = fields.bytes[SMAPS_SHARED_HUGETLB],
    };
    return GPUT_OK;
}

int proc_smaps_rollup_read(
    const char *root, pid_t pid, struct proc_smaps_rollup *rollup, struct gput_error *error)
{
    char text[PROCFS_TEXT_SIZE];
    size_t length;

    TRY(procfs_read(root, pid, "smaps_rollup", text, sizeof text, &length, error));
    if (length == 0)
        return error_set(
            error, GPUT_ERROR_GONE, "Process %d has exited or has no memory.", (int)pid);
    if (proc_smaps_rollup_parse(text, rollup) != GPUT_OK)
        return error_set(error, GPUT_ERROR_FORMAT, "%s/%d/smaps_rollup has an unexpected format.",
            root, (int)pid);
    return GPUT_OK;
}
