/* Any bytes as the events of a training profile, read in every way. */
#include "fuzz_folder.h"

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
    snprintf(root, sizeof root, "%s/fuzz-profile-XXXXXX", fuzz_folder());
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
    /* One view a time, so that many inputs are tried. */
    uint32_t chosen = 0;
    for (size_t i = 0; i < size; i++)
        chosen = chosen * 31 + data[i];
    const struct gput_profile_options options = {.size = sizeof options,
        .path = root,
        .start = INT64_MIN,
        .end = INT64_MAX,
        .by = (enum gput_profile_by)(chosen / 256 % 3),
        .by_phase = chosen / 1024 % 2,
        .each_step = chosen / 2048 % 2,
        .memory_bytes = 1 << 20};
    struct gput_tables *tables = NULL;
    int view = GPUT_PROFILE_JOB + (int)(chosen % (GPUT_PROFILE_EVENTS - GPUT_PROFILE_JOB + 1));
    if (gput_profile_tables((enum gput_profile_view)view, &options, &tables, NULL) == GPUT_OK)
        gput_tables_destroy(tables);
    return 0;
}
