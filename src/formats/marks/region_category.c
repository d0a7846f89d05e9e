#include "formats/marks/region_category.h"

#include <stdbool.h>
#include <string.h>

const char *region_category_find(const char *name)
{
    const char *end = strrchr(name, ']');
    const char *bracket = end && end[1] == '\0' ? strrchr(name, '[') : NULL;
    bool is_last = bracket && bracket > name && bracket[-1] == ' ' && bracket + 1 < end &&
                   strchr(bracket, ']') == end;
    return is_last ? bracket : NULL;
}
