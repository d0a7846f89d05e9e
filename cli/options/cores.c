#include "options/cores.h"

#include "base/error.h"
#include "base/number.h"

#include <gputracker/cores.h>

#define MAX_CORES 1024

int cores_read(const struct arguments *arguments, unsigned *cores, struct gput_error *error)
{
    const char *word = arguments_value(arguments, OPTION_CORES);
    int64_t number;
    *cores = gput_usable_cores();
    if (!word)
        return GPUT_OK;
    if (!number_read_int64(word, &number) || number < 1 || number > MAX_CORES)
        return error_set(error, GPUT_ERROR_INVALID,
            "-j must be a number of cores from 1 to %d, not \"%s\".", MAX_CORES, word);
    *cores = (unsigned)number;
    return GPUT_OK;
}
