#include "help/generate.h"

#include <string.h>

bool generate(FILE *file, const char *what)
{
    static const struct {
        const char *word;
        void (*write)(FILE *file);
    } kinds[] = {
        {"man", generate_man},
        {"bash", generate_bash},
        {"zsh", generate_zsh},
        {"fish", generate_fish},
    };
    if (strncmp(what, "man-", 4) == 0)
        return generate_man_of(file, what + 4);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(what, kinds[i].word) == 0) {
            kinds[i].write(file);
            return true;
        }
    }
    return false;
}
