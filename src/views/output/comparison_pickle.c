#include "views/output/comparison_render.h"
#include "views/output/pickle_writer.h"

#include <stdlib.h>
#include <string.h>

/* Writes session -> value. */
static void write_series(const struct doc *values, struct str *text)
{
    CLEANUP_FREE const char **names = calloc(values->count + 1, sizeof *names);
    CLEANUP_FREE double *numbers = calloc(values->count + 1, sizeof *numbers);
    bool are_integers = true;
    size_t count = 0;
    text->failed |= !names || !numbers;
    if (text->failed)
        return;
    for (const struct doc *value = values->first; value; value = value->next) {
        are_integers &= value->kind == DOC_INT;
        names[count] = value->key;
        numbers[count++] = doc_number(value);
    }
    pickle_series(text, names, numbers, count, are_integers);
}

static void write_objects(const struct doc *object, struct str *text)
{
    pickle_dict_begin(text);
    for (const struct doc *member = object->first; member; member = member->next) {
        pickle_text(text, member->key);
        if (member->first && member->first->kind == DOC_OBJECT)
            write_objects(member, text);
        else
            write_series(member, text);
    }
    pickle_dict_end(text);
}

void comparison_write_pickle(const struct doc *root, struct str *text)
{
    pickle_begin(text);
    pickle_object_begin(text, "gpu_tracker.sub_tracker", "ComparisonResults");
    for (const struct doc *part = root->first; part; part = part->next) {
        if (strcmp(part->key, "percent_change") == 0 || strcmp(part->key, "confidence") == 0)
            continue;
        if (!part->first && strcmp(part->key, "code_block_energy") == 0)
            continue;
        pickle_text(text, part->key);
        if (strcmp(part->key, "lost_calls") == 0)
            pickle_doc(text, part);
        else
            write_objects(part, text);
    }
    pickle_object_end(text);
    pickle_end(text);
}
