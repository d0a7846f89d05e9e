#include "region_filter.h"

#include "files/marks/sub_tracking_labels.h"

#include <fnmatch.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool region_filter_read(struct region_filter *filter, const char *lines)
{
    size_t length = strlen(lines), used = 0;
    char *patterns = calloc(1, length + 2);
    if (!patterns)
        return false;
    for (const char *line = lines; *line;) {
        size_t size = strcspn(line, "\n");
        memcpy(patterns + used, line, size);
        if (size > 0) {
            filter->has_wanted |= line[0] != '!';
            used += size + 1;
        }
        line += size + (line[size] == '\n');
    }
    filter->patterns = patterns;
    return true;
}

/* Whether a name matches a pattern, which is "domain:name" or for the name alone. */
static bool fits(const char *pattern, const char *domain, const char *name)
{
    char of_domain[256];
    const char *colon = strchr(pattern, ':');
    size_t length = colon ? (size_t)(colon - pattern) : 0;
    if (!colon || length >= sizeof of_domain)
        return fnmatch(pattern, name, 0) == 0;
    memcpy(of_domain, pattern, length);
    of_domain[length] = '\0';
    return fnmatch(of_domain, domain, 0) == 0 && fnmatch(colon + 1, name, 0) == 0;
}

/* Whether a name matches a pattern. A name with a category, "step [phase]", also matches without
 * it. */
static bool fits_either(const char *pattern, const char *domain, const char *name)
{
    char bare[1024];
    const char *bracket = region_category_find(name);
    size_t length = bracket ? (size_t)(bracket - 1 - name) : 0;
    if (fits(pattern, domain, name))
        return true;
    if (!bracket || length >= sizeof bare)
        return false;
    memcpy(bare, name, length);
    bare[length] = '\0';
    return fits(pattern, domain, bare);
}

bool region_filter_wants(const struct region_filter *filter, const char *domain, const char *name)
{
    bool wanted = !filter->has_wanted;
    const char *pattern = filter->patterns;
    for (; pattern && *pattern; pattern += strlen(pattern) + 1) {
        bool is_excluded = pattern[0] == '!';
        if (!fits_either(pattern + is_excluded, domain, name))
            continue;
        if (is_excluded)
            return false;
        wanted = true;
    }
    return wanted;
}
