#include "files/marks/region_category.h"

#include <stdio.h>
#include <string.h>

const char *region_category_find(const char *name)
{
    const char *end = strrchr(name, ']');
    const char *bracket = end && end[1] == '\0' ? strrchr(name, '[') : NULL;
    bool is_last = bracket && bracket > name && bracket[-1] == ' ' && bracket + 1 < end &&
                   strchr(bracket, ']') == end;
    return is_last ? bracket : NULL;
}

bool region_category_of(const char *name, char category[REGION_CATEGORY_SIZE])
{
    const char *bracket = region_category_find(name);
    if (!bracket)
        return false;
    size_t before = (size_t)(bracket - 1 - name);
    const char *slash = memchr(name, '/', before);
    int domain = (int)(slash ? (size_t)(slash - name) : before);
    snprintf(category, REGION_CATEGORY_SIZE, "%.*s %s", domain, name, bracket);
    return true;
}

const char *region_category_text(const char *category, size_t *length)
{
    const char *bracket = region_category_find(category);
    *length = bracket ? strlen(bracket) - 2 : 0;
    return bracket ? bracket + 1 : NULL;
}
