#include "files/import/pickle_reader.h"

#include <string.h>

#define BUDGET_MIN (UINT64_C(1) << 20)
#define BUDGET_PER_BYTE 8

struct pickle_budget pickle_budget_of(size_t length)
{
    return (struct pickle_budget){BUDGET_MIN + BUDGET_PER_BYTE * (uint64_t)length};
}

int pickle_spend(struct pickle_budget *budget, uint64_t cost)
{
    budget->left -= cost < budget->left ? cost : budget->left;
    return budget->left > 0 ? GPUT_OK : GPUT_ERROR_FORMAT;
}

const struct pickle_value *pickle_get(const struct pickle_value *dict, const char *key)
{
    if (!dict || dict->kind != PICKLE_DICT || dict->list.count > 2 * PICKLE_KEYS_MAX)
        return NULL;
    for (size_t i = dict->list.count; i >= 2; i -= 2) {
        const struct pickle_value *name = dict->list.items[i - 2];
        if (name->kind == PICKLE_TEXT && strcmp(name->text.bytes, key) == 0)
            return dict->list.items[i - 1];
    }
    return NULL;
}

const struct pickle_value *pickle_item(const struct pickle_value *list, size_t index)
{
    if (!list || (list->kind != PICKLE_TUPLE && list->kind != PICKLE_LIST))
        return NULL;
    return index < list->list.count ? list->list.items[index] : NULL;
}

bool pickle_is_object(const struct pickle_value *value, int class_id)
{
    return value && value->kind == PICKLE_OBJECT && value->class_id == class_id;
}
