#include "brackets.h"

#include <string.h>

const char *brackets_skip(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    at += *at == ']';
    while (*at && *at != ']') {
        char kind = at[1];
        if (*at == '[' && (kind == ':' || kind == '.' || kind == '=')) {
            const char end[] = {kind, ']', '\0'};
            const char *found = strstr(at + 2, end);
            at = found ? found + 2 : at + strlen(at);
        } else {
            at++;
        }
    }
    return *at ? at + 1 : at;
}
