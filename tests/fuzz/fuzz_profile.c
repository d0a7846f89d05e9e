/* Any bytes as the events of a training profile, looked at in every way. */
#include <gputracker/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char root[64];

static void remove_root(void)
{
    char path[256];
    static const char *const below[] = {"/framework/pevents/2020091312/1600000004400000_7-host_"
                                        "pythontimeline.json",
        "/framework/pevents/2020091312", "/framework/pevents", "/framework", ""};
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, sizeof path, "%s%s", root, below[i]);
        remove(path);
    }
}

static void make_root(void)
{
    char path[256];
    static const char *const below[] = {
        "/framework", "/framework/pevents", "/framework/pevents/2020091312"};
    snprintf(root, sizeof root, "/tmp/gput-fuzz-XXXXXX");
    if (!mkdtemp(root))
        abort();
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        snprintf(path, sizeof path, "%s%s", root, below[i]);
        mkdir(path, 0700);
    }
    atexit(remove_root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[256];
    if (root[0] == '\0')
        make_root();
    snprintf(path, sizeof path,
        "%s/framework/pevents/2020091312/1600000004400000_7-host_pythontimeline.json", root);
    FILE *file = fopen(path, "w");
    if (!file)
        return 0;
    fwrite(data, 1, size, file);
    fclose(file);
    for (int view = GPUT_PROFILE_JOB; view <= GPUT_PROFILE_EVENTS; view++) {
        const struct gput_profile_options options = {.size = sizeof options,
            .path = root,
            .by = (enum gput_profile_by)(size % 3),
            .by_phase = size % 2,
            .each_step = size % 5 == 0,
            .memory_bytes = 1 << 20};
        struct gput_tables *tables = NULL;
        if (gput_profile_tables((enum gput_profile_view)view, &options, &tables, NULL) == GPUT_OK)
            gput_tables_destroy(tables);
    }
    return 0;
}
