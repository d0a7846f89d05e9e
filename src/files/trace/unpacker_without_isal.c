/* Replaces unpacker_isal.c where the build has no ISA-L. */
#include "files/trace/unpacker.h"

/* Fails: there is no ISA-L. */
static int create(void **state, struct gput_error *error)
{
    (void)state;
    return error_set(error, GPUT_ERROR_UNSUPPORTED, "This gpu-tracker was built without ISA-L");
}

const struct unpacker_class unpacker_isal = {
    .begins = unpacker_begins_gzip, .magic_length = 2, .create = create};
