#include "output/rules.h"

#include "common/message.h"

#include <stdlib.h>

int rules_check(const struct arguments *arguments, enum option_id option, rule_check *check,
    const void *subject, int *status, struct gput_error *error)
{
    size_t position = 0;
    const char *rule;
    while ((rule = arguments_next(arguments, option, &position)) != NULL) {
        bool holds = false;
        int code = check(subject, rule, &holds, error);
        if (code != GPUT_OK && code != GPUT_ERROR_STATE)
            return code;
        if (code != GPUT_OK || holds)
            message_error(error);
        if (holds)
            *status = EXIT_RULE_BROKEN;
        else if (code != GPUT_OK && *status == EXIT_SUCCESS)
            *status = EXIT_FAILURE;
    }
    return GPUT_OK;
}
